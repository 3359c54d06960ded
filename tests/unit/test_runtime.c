/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi.h"
#include "object/elf/exported.h"
#include "profile/profile.h"
#include "profile/runtimes.h"
#include "tests/unit/build_elf.h"
#include "worker/runtime/runtime.h"

/* ---- objects ---- */

#define SYMBOLS 3u /* symbol 0 is empty */

/* .gnu.hash of one bucket: all symbols but the first are in one chain. */
struct hash_table {
	uint32_t buckets, first, blooms, shift;
	uint64_t bloom;
	uint32_t bucket, chain[SYMBOLS - 1];
};

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static struct hash_table make_hash(const char *const *names)
{
	struct hash_table table = {.buckets = 1, .first = 1, .blooms = 1, .shift = 6, .bucket = 1};

	for (size_t i = 0; i < SYMBOLS - 1; i++) {
		uint32_t hash = gnu_hash(names[i]);

		table.bloom |= 1ull << hash % 64 | 1ull << (hash >> table.shift) % 64;
		table.chain[i] = hash & ~1u;
	}
	table.chain[SYMBOLS - 2] |= 1;
	return table;
}

/* Makes an image that has two symbols and this table of hashes. */
static struct image *make_image(const char *const *names, const struct hash_table *table,
				uint16_t section)
{
	Elf64_Sym symbols[SYMBOLS] = {0};
	char strings[128] = "";
	size_t used = 1, size;
	struct build_elf elf;
	struct image *image;
	unsigned char *bytes;

	build_elf_init(&elf);
	build_elf_text(&elf, 0x1000, 16);
	for (size_t i = 0; i < SYMBOLS - 1; i++) {
		symbols[i + 1].st_name = (uint32_t)used;
		symbols[i + 1].st_shndx = section;
		memcpy(strings + used, names[i], strlen(names[i]) + 1);
		used += strlen(names[i]) + 1;
	}
	build_elf_section(&elf, ".gnu.hash", SHT_GNU_HASH, 0, table, sizeof(*table));
	build_elf_section(&elf, ".dynsym", SHT_DYNSYM, 0, symbols, sizeof(symbols));
	build_elf_section(&elf, ".dynstr", SHT_STRTAB, 0, strings, used);
	bytes = build_elf_finish(&elf, &size);
	assert_int_equal(image_adopt(bytes, size, &image), 0);
	return image;
}

static enum runtime recognise(const char *const *names, const struct hash_table *table,
			      uint16_t section)
{
	struct image *image = make_image(names, table, section);
	enum runtime runtime = runtime_recognise(image);

	image_close(image);
	return runtime;
}

static void test_runtime__is_known_by_its_symbols(void **state)
{
	(void)state;
	for (uint32_t i = RUNTIME_NONE + 1; i < RUNTIME_COUNT; i++) {
		for (size_t j = 0; j < RUNTIME_SYMBOLS; j++) {
			const char *names[] = {"other", runtime_row(i)->symbol[j]};
			const struct hash_table table = make_hash(names);

			if (!names[1][0])
				continue;
			assert_int_equal(recognise(names, &table, 1), i);
			assert_true(strlen(names[1]) < EXPORTED_NAME_MAX);
		}
	}
}

static void test_runtime__the_first_row_counts(void **state)
{
	const char *const names[] = {"lua_newstate", "luaJIT_setmode"};
	const struct hash_table table = make_hash(names);

	(void)state;
	assert_int_equal(recognise(names, &table, 1), RUNTIME_LUAJIT);
}

static void test_runtime__others_are_none(void **state)
{
	const char *const other[] = {"main", "_PyRuntime2"}, *const python[] = {"_PyRuntime", "m"};
	struct hash_table table = make_hash(other);
	struct build_elf elf;
	struct image *image;
	unsigned char *bytes;
	size_t size;

	(void)state;
	assert_int_equal(recognise(other, &table, 1), RUNTIME_NONE);
	table = make_hash(python);
	assert_int_equal(recognise(python, &table, 1), RUNTIME_CPYTHON);
	assert_int_equal(recognise(python, &table, SHN_UNDEF), RUNTIME_NONE);
	build_elf_init(&elf);
	build_elf_text(&elf, 0x1000, 16);
	bytes = build_elf_finish(&elf, &size);
	assert_int_equal(image_adopt(bytes, size, &image), 0);
	assert_int_equal(runtime_recognise(image), RUNTIME_NONE);
	image_close(image);
}

/* Hostile tables lead outside of the sections, or to nothing. */
static void test_runtime__hostile_tables(void **state)
{
	const char *const names[] = {"_PyRuntime", "m"};
	const struct hash_table good = make_hash(names);
	struct hash_table bad[8];

	(void)state;
	for (size_t i = 0; i < 8; i++)
		bad[i] = good;
	bad[0].buckets = 0;
	bad[1].blooms = 0;
	bad[2].shift = 32;
	bad[3].blooms = UINT32_MAX;
	bad[4].buckets = UINT32_MAX;
	bad[5].bucket = UINT32_MAX;
	bad[6].first = 2;
	bad[7].bloom = 0;
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(recognise(names, &bad[i], 1), RUNTIME_NONE);
}

static void test_runtime__numbers_beyond_the_table(void **state)
{
	char text[RUNTIME_NOTE_BYTES];

	(void)state;
	assert_null(runtime_row(RUNTIME_NONE));
	assert_null(runtime_row(RUNTIME_COUNT));
	assert_null(runtime_row(UINT32_MAX));
	runtime_note(text, RUNTIME_COUNT, "x", 50);
	assert_string_equal(text, "");
}

static void test_runtime__is_noted_from_one_percent_on(void **state)
{
	(void)state;
	assert_false(runtime_is_noted(0, 0));
	assert_false(runtime_is_noted(0, 50));
	assert_true(runtime_is_noted(1, 50));
	assert_true(runtime_is_noted(1, 100));
	assert_false(runtime_is_noted(1, 101));
	assert_false(runtime_is_noted(1, 199));
	assert_true(runtime_is_noted(2, 199));
	assert_false(runtime_is_noted(UINT64_MAX / 100, UINT64_MAX));
	assert_true(runtime_is_noted(UINT64_MAX / 100 + 1, UINT64_MAX));
}

/* Each note fits, whatever the name of the object. */
static void test_runtime__notes_fit(void **state)
{
	char text[RUNTIME_NOTE_BYTES], name[RUNTIME_NAME_BYTES];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (uint32_t i = RUNTIME_NONE + 1; i < RUNTIME_COUNT; i++) {
		runtime_note(text, i, name, 100);
		assert_int_equal(text[strlen(text) - 1], ')');
	}
}

/* ---- samples ---- */

static uint32_t add_object(struct profile *profile, const char *name, enum profile_kind kind,
			   uint32_t runtime)
{
	const struct profile_object object = {
		.name = profile_string(profile, name), .kind = kind, .runtime = runtime};

	return profile_object_add(profile, &object);
}

static void add_sample(struct profile *profile, uint32_t pid, uint64_t count,
		       const uint32_t *objects, size_t depth)
{
	struct profile_sample sample = {.pid = pid, .reason = REASON_end_root, .count = count};
	uint32_t locations[8];

	for (size_t i = 0; i < depth; i++)
		locations[i] = profile_location_add(profile, objects[i], 0x10 + i);
	sample.stack = profile_stack_add(profile, locations, depth);
	assert_int_equal(profile_sample_add(profile, &sample), 0);
}

static struct profile *make_profile(void)
{
	struct profile *profile = profile_new();
	uint32_t python = add_object(profile, "/usr/bin/python3.11", KIND_NATIVE, RUNTIME_CPYTHON);
	uint32_t node = add_object(profile, "/opt/node", KIND_NATIVE, RUNTIME_NODE);
	uint32_t libc = add_object(profile, "/lib/libc.so.6", KIND_NATIVE, RUNTIME_NONE);
	uint32_t anon = add_object(profile, "[anon]", KIND_ANON, RUNTIME_NONE);
	uint32_t kernel = add_object(profile, "[kernel]", KIND_KERNEL, RUNTIME_NONE);
	uint32_t guess = add_object(profile, "[guessed]", KIND_MARKER, RUNTIME_NONE);

	add_sample(profile, 1, 50, (uint32_t[]){python}, 1);
	add_sample(profile, 1, 11, (uint32_t[]){kernel, python}, 2);
	add_sample(profile, 1, 9, (uint32_t[]){libc, python}, 2);
	add_sample(profile, 2, 4, (uint32_t[]){node}, 1);
	add_sample(profile, 2, 16, (uint32_t[]){anon}, 1);
	add_sample(profile, 2, 2, (uint32_t[]){kernel, guess, anon, node}, 4);
	add_sample(profile, 3, 8, (uint32_t[]){anon}, 1);
	return profile;
}

static void test_runtime__shares(void **state)
{
	struct profile *profile = make_profile();
	struct runtimes runtimes = {0}, twice = {0};

	(void)state;
	assert_int_equal(runtimes_add(&runtimes, profile), 0);
	assert_int_equal(runtimes.samples, 100);
	assert_int_equal(runtimes.item[0].samples, 70); /* 9 of them in libc, for Python */
	assert_int_equal(runtimes.item[0].runtime, RUNTIME_CPYTHON);
	assert_string_equal(runtimes.item[0].name, "python3.11");
	assert_int_equal(runtimes.item[1].samples, 22);
	assert_string_equal(runtimes.item[1].name, "node");
	assert_int_equal(runtimes.item[2].samples, 0);
	runtimes_merge(&twice, &runtimes);
	runtimes_merge(&twice, &runtimes);
	assert_int_equal(twice.samples, 200);
	assert_int_equal(twice.item[0].samples, 140);
	assert_int_equal(twice.item[2].samples, 0);
	profile_free(profile);
}

/*
 * A process maps a runtime, and never runs it: uwsgi before the first request, gdb. Nothing is
 * noted, whatever code without a file the process runs, and whatever other processes do.
 */
static void test_runtime__that_never_runs_is_not_noted(void **state)
{
	struct profile *profile = profile_new();
	uint32_t gdb = add_object(profile, "/usr/bin/gdb", KIND_NATIVE, RUNTIME_NONE);
	uint32_t anon = add_object(profile, "[anon]", KIND_ANON, RUNTIME_NONE);
	uint32_t python =
		add_object(profile, "/lib/libpython3.11.so", KIND_NATIVE, RUNTIME_CPYTHON);
	struct runtimes runtimes = {0};
	size_t count;

	(void)state;
	add_sample(profile, 1, 50, (uint32_t[]){gdb}, 1);
	add_sample(profile, 1, 40, (uint32_t[]){anon, gdb}, 2);
	assert_int_equal(runtimes_add(&runtimes, profile), 0);
	assert_int_equal(runtimes.samples, 90);
	assert_int_equal(runtimes.item[0].samples, 0);
	assert_int_equal(runtimes_note(&runtimes, profile), 0);
	profile_notes(profile, &count);
	assert_int_equal(count, 0);
	add_sample(profile, 2, 10, (uint32_t[]){gdb, python, gdb}, 3);
	runtimes = (struct runtimes){0};
	assert_int_equal(runtimes_add(&runtimes, profile), 0);
	assert_int_equal(runtimes.item[0].samples, 10);
	assert_int_equal(runtimes.item[1].samples, 0);
	profile_free(profile);
}

/* A stack that shows the program's functions needs no note. */
static void test_runtime__whose_functions_are_there_is_not_noted(void **state)
{
	struct profile *profile = profile_new();
	uint32_t python = add_object(profile, "/usr/bin/python3.11", KIND_NATIVE, RUNTIME_CPYTHON);
	uint32_t script = add_object(profile, "[python]", KIND_SCRIPT, RUNTIME_CPYTHON);
	uint32_t anon = add_object(profile, "[anon]", KIND_ANON, RUNTIME_NONE);
	struct runtimes runtimes = {0};

	(void)state;
	add_sample(profile, 1, 90, (uint32_t[]){python, script}, 2);
	add_sample(profile, 1, 7, (uint32_t[]){python}, 1);
	add_sample(profile, 1, 3, (uint32_t[]){anon, script}, 2);
	assert_int_equal(runtimes_add(&runtimes, profile), 0);
	assert_int_equal(runtimes.samples, 100);
	assert_int_equal(runtimes.item[0].samples, 7);
	assert_int_equal(runtimes.item[1].samples, 0);
	profile_free(profile);
}

/* A server with Lua inside exports the symbols of Lua. Only its calls of Lua are Lua's. */
static void test_runtime__within_a_host(void **state)
{
	struct profile *profile = profile_new();
	uint32_t redis = add_object(profile, "/usr/bin/redis-server", KIND_NATIVE, RUNTIME_LUA);
	struct profile_function function = {.object = redis, .named = true};
	struct runtimes runtimes = {0};

	(void)state;
	add_sample(profile, 1, 90, (uint32_t[]){redis}, 1);
	assert_int_equal(runtimes_add(&runtimes, profile), 0);
	assert_int_equal(runtimes.item[0].samples, 0);
	add_sample(profile, 1, 10, (uint32_t[]){redis, redis}, 2);
	function.name = profile_string(profile, "luaV_execute");
	profile_location_get(profile, 2)->function = profile_function_add(profile, &function);
	function.name = profile_string(profile, "processCommand");
	profile_location_get(profile, 1)->function = profile_function_add(profile, &function);
	runtimes = (struct runtimes){0};
	assert_int_equal(runtimes_add(&runtimes, profile), 0);
	assert_int_equal(runtimes.item[0].samples, 10);
	assert_string_equal(runtimes.item[0].name, "redis-server");
	profile_free(profile);
}

static void test_runtime__own_files_and_functions(void **state)
{
	static const struct {
		uint32_t runtime;
		const char *file;
		bool own;
	} files[] = {
		{RUNTIME_CPYTHON, "python3.11", true},
		{RUNTIME_CPYTHON, "libpython3.11.so.1.0", true},
		{RUNTIME_CPYTHON, "python", true},
		{RUNTIME_CPYTHON, "blender", false},
		{RUNTIME_CPYTHON, "pythonista", false},
		{RUNTIME_LUA, "lua5.3", true},
		{RUNTIME_LUA, "luatex", false},
		{RUNTIME_LUA, "liblua5.3.so.0", true},
		{RUNTIME_NODE, "electron", false},
		{RUNTIME_NODE, "libnode.so.108", true},
		{RUNTIME_ERLANG, "beam.smp", true},
		{RUNTIME_NONE, "python", false},
		{RUNTIME_R, "libR.so", true},
		{RUNTIME_HOTSPOT, "libjvm.so", true},
		{RUNTIME_PHP, "php-fpm8.2", true},
		{RUNTIME_PYPY, "libpypy3.9-c.so", true},
		{RUNTIME_PYPY, "/usr/lib/libpypy3.9-c.so", true},
		{RUNTIME_CPYTHON, "/usr/lib/python3/uwsgi", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		assert_int_equal(runtime_is_own_file(files[i].runtime, files[i].file),
				 files[i].own);
	assert_true(runtime_is_own_function(RUNTIME_CPYTHON, "_PyEval_EvalFrameDefault"));
	assert_true(runtime_is_own_function(RUNTIME_CPYTHON, "PyObject_Call"));
	assert_false(runtime_is_own_function(RUNTIME_CPYTHON, "main"));
	assert_false(runtime_is_own_function(RUNTIME_NONE, "main"));
}

/* A library works for the script: the stack shows the interpreter's functions around it. */
static void test_runtime__the_innermost_on_the_stack_counts(void **state)
{
	struct profile *profile = profile_new();
	uint32_t blas = add_object(profile, "/lib/libopenblas.so.0", KIND_NATIVE, RUNTIME_NONE);
	uint32_t python = add_object(profile, "/usr/bin/python3.11", KIND_NATIVE, RUNTIME_CPYTHON);
	uint32_t perl = add_object(profile, "/lib/libperl.so", KIND_NATIVE, RUNTIME_PERL);
	struct runtimes runtimes = {0};

	(void)state;
	add_sample(profile, 1, 90, (uint32_t[]){blas, python}, 2);
	add_sample(profile, 1, 9, (uint32_t[]){blas}, 1); /* a thread of the library's own */
	add_sample(profile, 1, 1, (uint32_t[]){blas, perl, python}, 3);
	assert_int_equal(runtimes_add(&runtimes, profile), 0);
	assert_int_equal(runtimes.item[0].samples, 90);
	assert_string_equal(runtimes.item[0].name, "python3.11");
	assert_int_equal(runtimes.item[1].samples, 1);
	assert_string_equal(runtimes.item[1].name, "libperl.so");
	profile_free(profile);
}

/* A reader of a file learns from the notes which objects are runtimes. */
static void test_runtime__is_recalled_by_the_notes(void **state)
{
	static const char *const others[] = {"",
					     "runtime: ",
					     "runtime: a",
					     "runtime: a % of samples: ",
					     "runtime: 5 % of samples: ",
					     "runtime: a, 5 % of samples: of another program",
					     "waited: a, 5 % of samples: "};
	struct profile *profile = make_profile();
	struct runtimes runtimes = {0}, again = {0};
	char name[RUNTIME_NAME_BYTES];

	(void)state;
	assert_int_equal(runtimes_add(&runtimes, profile), 0);
	assert_int_equal(runtimes_note(&runtimes, profile), 0);
	for (uint32_t id = 1; id <= profile_objects(profile); id++)
		profile_object_get(profile, id)->runtime = RUNTIME_NONE;
	runtimes_recall(profile);
	assert_int_equal(runtimes_add(&again, profile), 0);
	assert_memory_equal(&again, &runtimes, sizeof(again));
	profile_free(profile);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(runtime_of_note(others[i], name, sizeof(name)), RUNTIME_NONE);
	for (uint32_t i = RUNTIME_NONE + 1; i < RUNTIME_COUNT; i++) {
		char text[RUNTIME_NOTE_BYTES];

		runtime_note(text, i, "a, b", 7);
		assert_int_equal(runtime_of_note(text, name, sizeof(name)), i);
		assert_string_equal(name, "a, b");
	}
}

static void test_runtime__most_are_kept(void **state)
{
	struct profile *profile = profile_new();
	struct runtimes runtimes = {0};
	char name[64];

	(void)state;
	for (uint32_t i = 0; i < 2 * RUNTIMES_KEPT; i++) {
		uint32_t object;

		snprintf(name, sizeof(name), "/a/ruby-%035u", i);
		name[8] = (char)('a' + i);
		object = add_object(profile, name, KIND_NATIVE, RUNTIME_RUBY);
		add_sample(profile, i, i + 1, &object, 1);
	}
	assert_int_equal(runtimes_add(&runtimes, profile), 0);
	for (uint32_t i = 0; i < RUNTIMES_KEPT; i++)
		assert_int_equal(runtimes.item[i].samples, 2 * RUNTIMES_KEPT - i);
	assert_int_equal(strlen(runtimes.item[0].name), RUNTIME_NAME_BYTES - 1);
	profile_free(profile);
}

static void test_runtime__notes_of_a_profile(void **state)
{
	struct profile *profile = make_profile();
	struct runtimes runtimes = {0};
	const uint32_t *notes;
	size_t count;

	(void)state;
	assert_int_equal(runtimes_add(&runtimes, profile), 0);
	for (unsigned int i = 0; i < 2; i++) /* the second call replaces what the first one put */
		assert_int_equal(runtimes_note(&runtimes, profile), 0);
	notes = profile_notes(profile, &count);
	assert_int_equal(count, 2);
	assert_string_equal(
		profile_string_get(profile, notes[0]),
		"runtime: python3.11, 70 % of samples: the interpreter's own "
		"functions, not the script's (CPython: keyhole why PID says whether the "
		"program's functions are shown)");
	runtimes.samples = 10000;
	assert_int_equal(runtimes_note(&runtimes, profile), 0);
	profile_notes(profile, &count);
	assert_int_equal(count, 0);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runtime__is_known_by_its_symbols),
		cmocka_unit_test(test_runtime__the_first_row_counts),
		cmocka_unit_test(test_runtime__others_are_none),
		cmocka_unit_test(test_runtime__hostile_tables),
		cmocka_unit_test(test_runtime__numbers_beyond_the_table),
		cmocka_unit_test(test_runtime__is_noted_from_one_percent_on),
		cmocka_unit_test(test_runtime__notes_fit),
		cmocka_unit_test(test_runtime__shares),
		cmocka_unit_test(test_runtime__that_never_runs_is_not_noted),
		cmocka_unit_test(test_runtime__whose_functions_are_there_is_not_noted),
		cmocka_unit_test(test_runtime__within_a_host),
		cmocka_unit_test(test_runtime__own_files_and_functions),
		cmocka_unit_test(test_runtime__the_innermost_on_the_stack_counts),
		cmocka_unit_test(test_runtime__is_recalled_by_the_notes),
		cmocka_unit_test(test_runtime__most_are_kept),
		cmocka_unit_test(test_runtime__notes_of_a_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/build_go.h"
#include "object/elf/image.h"
#include "object/symbol/cache.h"
#include "object/elf/go_module.h"
#include "object/symbol/go_table.h"

struct rig {
	struct symbol_cache *cache;
	struct image *image;
	struct go_table *table;
	char text[65536];
};

static int rig_open(struct rig *rig, const struct build_go *build)
{
	size_t size;
	unsigned char *bytes = build_go(build, &size);

	*rig = (struct rig){.cache = symbol_cache_new(SYMBOL_BYTES_MAX)};
	assert_int_equal(image_adopt(bytes, size, &rig->image), 0);
	return go_table_open(rig->cache, rig->image, &rig->table);
}

static void rig_close(struct rig *rig)
{
	go_table_close(rig->table);
	image_close(rig->image);
	symbol_cache_free(rig->cache);
}

static void add(void *context, const struct go_frame *frame)
{
	struct rig *rig = context;
	size_t used = strlen(rig->text);

	snprintf(rig->text + used, sizeof(rig->text) - used,
		 "%s%s %s:%" PRIu32 " %" PRIu32 " %" PRIx64 ";", frame->inlined ? "~" : "",
		 frame->name, frame->file, frame->line, frame->first_line, frame->start);
}

static int find(struct rig *rig, uint64_t pc)
{
	rig->text[0] = '\0';
	return go_table_find(rig->table, pc, add, rig);
}

static void assert_found(struct rig *rig, uint64_t pc, const char *expected)
{
	assert_int_equal(find(rig, pc), 0);
	assert_string_equal(rig->text, expected);
}

static void check_layout(const struct build_go *build)
{
	const bool lines = build->version == 20;
	struct rig rig;

	assert_int_equal(rig_open(&rig, build), 0);
	assert_int_equal(find(&rig, 0xfff), -ENOENT);
	assert_found(&rig, 0x1000,
		     lines ? "main.main /src/main.go:10 9 1000;"
			   : "main.main /src/main.go:10 0 1000;");
	assert_found(&rig, 0x101f,
		     lines ? "main.main /src/main.go:10 9 1000;"
			   : "main.main /src/main.go:10 0 1000;");
	assert_found(&rig, 0x1020,
		     lines ? "~main.add /src/add.go:55 50 0;main.main /src/main.go:10 9 1000;"
			   : "~main.add /src/add.go:55 0 0;main.main /src/main.go:10 0 1000;");
	assert_found(&rig, 0x10ff,
		     lines ? "main.main /src/main.go:12 9 1000;"
			   : "main.main /src/main.go:12 0 1000;");
	assert_found(&rig, 0x1100,
		     lines ? "main.other /src/main.go:20 20 1100;"
			   : "main.other /src/main.go:20 0 1100;");
	assert_int_equal(find(&rig, 0x1180), -ENOENT);
	rig_close(&rig);
}

static void test_go_table__layouts_of_all_versions(void **state)
{
	static const struct build_go layouts[] = {
		{.version = 16},
		{.version = 18},
		{.version = 20},
		{.version = 18, .relocated = true},
		{.version = 20, .relocated = true},
		{.version = 18, .merged = true},
		{.version = 20, .merged = true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		check_layout(&layouts[i]);
}

static void test_go_table__without_a_module_there_are_functions_only(void **state)
{
	const struct build_go build = {.version = 18, .no_module = true};
	struct rig rig;

	(void)state;
	assert_int_equal(rig_open(&rig, &build), 0);
	assert_found(&rig, 0x1020, "main.main /src/add.go:55 0 1000;");
	rig_close(&rig);
}

/* The call's position lies in the inlined code itself, for ever. */
static void test_go_table__calls_that_go_round_end(void **state)
{
	const struct build_go build = {.version = 20, .parent = 0x20};
	size_t count = 0;
	struct rig rig;

	(void)state;
	assert_int_equal(rig_open(&rig, &build), 0);
	assert_int_equal(find(&rig, 0x1020), 0);
	for (const char *at = rig.text; (at = strchr(at, ';')); at++)
		count++;
	assert_int_equal(count, GO_INLINE_MAX + 1);
	rig_close(&rig);
}

/* The search looks at so many places that may hold the table's address, and no more. */
static void test_go_table__modules_that_are_none_are_bounded(void **state)
{
	const struct build_go few = {.version = 20, .decoys = GO_MODULES_MAX - 1};
	const struct build_go many = {.version = 20, .decoys = GO_MODULES_MAX};
	struct rig rig;

	(void)state;
	assert_int_equal(rig_open(&rig, &few), 0);
	assert_found(&rig, 0x1020,
		     "~main.add /src/add.go:55 50 0;main.main /src/main.go:10 9 1000;");
	rig_close(&rig);
	/* the start of .text stands in the module's place */
	assert_int_equal(rig_open(&rig, &many), -EBADMSG);
	rig_close(&rig);
}

static void count_bytes(void *context, const struct go_frame *frame)
{
	*(uint64_t *)context += strlen(frame->name) + strlen(frame->file);
}

/* Each address has 64 frames, all with the longest names. */
static void test_go_table__long_names_cost_steps(void **state)
{
	enum {
		BYTES = 3 * GO_NAME_MAX
	};
	char *strings = malloc(BYTES);
	const struct build_go build = {
		.version = 20, .parent = 0x20, .strings = strings, .strings_size = BYTES};
	uint64_t bytes = 0;
	struct rig rig;
	int r;

	(void)state;
	memset(strings, 'x', BYTES);
	assert_int_equal(rig_open(&rig, &build), 0);
	do
		r = go_table_find(rig.table, 0x1020, count_bytes, &bytes);
	while (r == 0);
	assert_int_equal(r, -ETIME);
	assert_true(bytes > GO_STEPS_MAX);
	assert_true(bytes < 9ull * GO_STEPS_MAX);
	/* no more frames are shown */
	bytes = 0;
	assert_int_equal(go_table_find(rig.table, 0x1020, count_bytes, &bytes), -ETIME);
	assert_int_equal(bytes, 0);
	rig_close(&rig);
	free(strings);
}

static void test_go_table__damaged_ones(void **state)
{
	static const unsigned char far[16] = {0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 0xff, 1};
	static const unsigned char endless[] = {0,    0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
						0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
	const struct build_go empty = {.version = 20, .functions = "", .functions_size = 0};
	const struct build_go outside = {
		.version = 20, .functions = far, .functions_size = sizeof(far)};
	const struct build_go varints = {
		.version = 20, .tables = endless, .tables_size = sizeof(endless)};
	struct rig rig;

	(void)state;
	assert_int_equal(rig_open(&rig, &empty), -EBADMSG);
	rig_close(&rig);
	assert_int_equal(rig_open(&rig, &outside), -EBADMSG);
	rig_close(&rig);
	assert_int_equal(rig_open(&rig, &varints), 0);
	assert_found(&rig, 0x1020, "main.main :0 9 1000;");
	rig_close(&rig);
}

static void test_go_table__what_is_none(void **state)
{
	static const unsigned char other[80] = {0xfb, 0xff, 0xff, 0xff, 0, 0, 1, 8};
	struct go_table *table;
	struct rig rig;
	const struct build_go build = {.version = 20};
	size_t size, at;
	unsigned char *bytes = build_go(&build, &size);

	(void)state;
	rig.cache = symbol_cache_new(SYMBOL_BYTES_MAX);
	for (at = 0; memcmp(bytes + at, "\xf1\xff\xff\xff", 4) != 0;)
		at++;
	memcpy(bytes + at, other, 8); /* of Go 1.2 to 1.15 */
	assert_int_equal(image_open_memory(bytes, size, &rig.image), 0);
	assert_int_equal(go_table_open(rig.cache, rig.image, &table), -ENOTSUP);
	image_close(rig.image);
	bytes[at] = 0xf1;
	bytes[at + 7] = 4; /* pointers of 32 bits */
	assert_int_equal(image_adopt(bytes, size, &rig.image), 0);
	assert_int_equal(go_table_open(rig.cache, rig.image, &table), -ENOTSUP);
	image_close(rig.image);
	symbol_cache_free(rig.cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_go_table__layouts_of_all_versions),
		cmocka_unit_test(test_go_table__without_a_module_there_are_functions_only),
		cmocka_unit_test(test_go_table__calls_that_go_round_end),
		cmocka_unit_test(test_go_table__modules_that_are_none_are_bounded),
		cmocka_unit_test(test_go_table__long_names_cost_steps),
		cmocka_unit_test(test_go_table__damaged_ones),
		cmocka_unit_test(test_go_table__what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/build_cfi.h"
#include "tests/unit/build_elf.h"
#include "object/elf/image.h"
#include "object/unwind/go_rows.h"
#include "object/unwind/unwind_table.h"

#define TEXT	     0x401000ull
#define TEXT_BYTES   0x1000u
#define TABLE_AT     0x500000ull
#define HEADER	     72u
#define NAMES_MAX    0x200u
#define TABLES_MAX   0x200u
#define RECORD	     44u
#define MODULE_BYTES 0x200u
#define MODULE_AT    0x600000ull
#define SPWRITE	     2u
#define SP(n)	     RULE_MAKE(RULE_SP, 0, 0, n, 0)
#define SP_RBP(n)    RULE_MAKE(RULE_SP, 0, 1, n, 0)
#define ROOT	     RULE_MAKE(RULE_END, 0, 0, 0, RULE_FLAG_ENTRY)
#define OTHER	     RULE_MAKE(RULE_UNSUPPORTED, 0, 0, 0, 0)

struct step {
	int distance; /* more than before */
	unsigned int bytes;
};
struct code {
	unsigned int at, size;
	unsigned char bytes[26];
};
struct made {
	const char *name;
	unsigned int start, flags;
	struct step steps[4];
	struct code code;
};

/* push %rbp; mov %rsp, %rbp, and the form of older versions, mov %rbp, 24(%rsp) */
#define PUSH                           \
	{                              \
		0x55, 0x48, 0x89, 0xe5 \
	}
#define MOVE                               \
	{                                  \
		0x48, 0x89, 0x6c, 0x24, 24 \
	}
#define CALL                     \
	{                        \
		0x41, 0xff, 0xd4 \
	}

static const struct made usual[] = {
	{.name = "_rt0_amd64_linux", .start = 0, .steps = {{0, 0x20}}},
	{.name = "main.main",
	 .start = 0x20,
	 .steps = {{0, 0x11}, {8, 8}, {24, 0x30}, {-32, 1}},
	 .code = {0x10, 4, PUSH}},
	{.name = "main.old",
	 .start = 0x80,
	 .steps = {{0, 0x10}, {32, 0x20}, {-32, 0x10}},
	 .code = {0x10, 5, MOVE}},
	{.name = "runtime.odd", .start = 0xc0, .steps = {{0, 0x10}, {16, 0x30}}},
	{.name = "runtime.systemstack", .start = 0x100, .flags = SPWRITE, .steps = {{0, 0x40}}},
	{.name = "runtime.goexit", .start = 0x140, .flags = 1, .steps = {{0, 0x40}}},
	{.name = "runtime.clone",
	 .start = 0x180,
	 .flags = SPWRITE,
	 .steps = {{0, 0x80}},
	 .code = {0x30, 3, CALL}},
	{.name = "runtime.goexit0", .start = 0x200, .steps = {{0, 0x10}}},
	{.name = "runtime.mcall", .start = 0x210, .flags = SPWRITE, .code = {0x10, 3, CALL}},
	{.name = "main.older",
	 .start = 0x240,
	 .steps = {{0, 4}, {8, 0x10}, {-8, 1}},
	 .code = {4, 4, {0x48, 0x89, 0x2c, 0x24}}}, /* mov %rbp, (%rsp) */
	{.name = "main.oldest",
	 .start = 0x280,
	 .steps = {{0, 4}, {208, 0x10}, {-208, 1}},
	 .code = {4, 8, {0x48, 0x89, 0xac, 0x24, 200}}}, /* mov %rbp, 200(%rsp) */
	{.name = NULL, .start = 0x300},
};

struct build {
	const struct made *functions;
	uint32_t magic;
	uint64_t entry, text;		/* text, as the header has it */
	uint64_t count;			/* 0: as many as there are */
	uint32_t names;			/* added to offsets of names */
	uint64_t module_end;		/* of a description of the module; 0: no description */
	const struct build_cfi *frames; /* .eh_frame */
};

static void put(unsigned char *to, uint64_t value, size_t size)
{
	memcpy(to, &value, size);
}

static size_t put_varint(unsigned char *to, unsigned int value)
{
	size_t used = 0;

	for (; value >= 0x80; value >>= 7)
		to[used++] = (unsigned char)(value | 0x80);
	to[used++] = (unsigned char)value;
	return used;
}

static size_t put_steps(unsigned char *to, const struct step steps[4])
{
	size_t used = 0;

	for (int i = 0; i < 4 && steps[i].bytes > 0; i++) {
		int more = steps[i].distance + (i == 0); /* from -1 */

		used += put_varint(to + used, (unsigned int)more << 1 ^ (unsigned int)(more >> 31));
		used += put_varint(to + used, steps[i].bytes);
	}
	return used + 1;
}

static struct image *make(const struct build *build)
{
	static unsigned char table[0x2000];
	unsigned char text[TEXT_BYTES], module[MODULE_BYTES] = {0};
	size_t count = 0, name = 1, steps = 1, size;
	size_t names = HEADER, tables = names + NAMES_MAX, pairs = tables + TABLES_MAX, records;
	/* Go 1.16 has addresses, in more bytes, and no start of the text */
	const bool is_116 = build->magic == 0xfffffffa;
	const size_t pair_bytes = is_116 ? 16 : 8, earlier = is_116 ? 8 : 0, later = is_116 ? 4 : 0;
	struct image *image = NULL;
	struct build_elf elf;
	unsigned char *bytes;

	memset(text, 0x90, sizeof(text));
	memset(table, 0, sizeof(table));
	while (build->functions[count].name)
		count++;
	records = pair_bytes * (count + 1);
	put(table, build->magic ? build->magic : 0xfffffff1, 4);
	put(table + 4, 0x08010000, 4);
	put(table + 8, build->count ? build->count : count, 8);
	if (!is_116)
		put(table + 24, build->text, 8);
	put(table + 32 - earlier, names, 8);
	put(table + 56 - earlier, tables, 8);
	put(table + 64 - earlier, pairs, 8);
	for (size_t i = 0; i <= count; i++) {
		const struct made *made = &build->functions[i];
		unsigned char *record = table + pairs + records + i * RECORD;
		unsigned char *pair = table + pairs + pair_bytes * i;

		put(pair, is_116 ? TEXT + made->start : made->start, pair_bytes / 2);
		if (i == count)
			break;
		put(pair + pair_bytes / 2, records + i * RECORD, 4);
		put(record + 4 + later, name + build->names, 4);
		put(record + 16 + later, steps, 4);
		record[build->magic == 0xfffffff0 ? 37 : 41] = (unsigned char)made->flags;
		memcpy(table + names + name, made->name, strlen(made->name));
		name += strlen(made->name) + 1;
		steps += put_steps(table + tables + steps, made->steps);
		memcpy(text + made->start + made->code.at, made->code.bytes, made->code.size);
	}
	put(module, TABLE_AT, 8);
	put(module + 8, TABLE_AT + names, 8);
	put(module + 8 * 20, TEXT, 8);
	put(module + 8 * 21, build->module_end, 8);
	put(module + 8 * 22, TEXT, 8);
	build_elf_init(&elf);
	elf.header.e_type = ET_EXEC;
	elf.header.e_entry = build->entry ? build->entry : TEXT;
	build_elf_segment(&elf, PT_LOAD, PF_R | PF_X, TEXT, text, sizeof(text));
	build_elf_section(&elf, ".text", SHT_PROGBITS, TEXT, text, sizeof(text));
	build_elf_section(&elf, ".gopclntab", SHT_PROGBITS, TABLE_AT, table, sizeof(table));
	if (build->module_end)
		build_elf_section(&elf, ".go.module", SHT_PROGBITS, MODULE_AT, module,
				  sizeof(module));
	if (build->frames)
		build_elf_section(&elf, ".eh_frame", SHT_PROGBITS, BUILD_ELF_EH_FRAME,
				  build->frames->bytes, build->frames->size);
	bytes = build_elf_finish(&elf, &size);
	assert_int_equal(image_adopt(bytes, size, &image), 0);
	return image;
}

static int compile(const struct build *build, struct unwind_table **ret_table)
{
	struct image *image = make(build);
	u64 damaged;
	int r = unwind_table_build(image, ret_table, &damaged);

	image_close(image);
	return r;
}

static void check_rule(const struct unwind_table *table, u64 pc, u64 expected)
{
	assert_int_equal(unwind_table_rule(table, TEXT + pc), expected);
}

static void check_usual(const struct unwind_table *table)
{
	check_rule(table, 0, ROOT);
	check_rule(table, 0x1f, ROOT);
	check_rule(table, 0x20, SP(8));
	check_rule(table, 0x30, SP(8)); /* at the push */
	check_rule(table, 0x31, SP_RBP(16));
	check_rule(table, 0x38, SP_RBP(16));
	check_rule(table, 0x39, SP_RBP(40));
	check_rule(table, 0x68, SP_RBP(40));
	check_rule(table, 0x69, SP(8));
	check_rule(table, 0x6a, RULE_NONE); /* up to the next one */
	check_rule(table, 0x8f, SP(8));
	check_rule(table, 0x90, SP(40)); /* not saved yet */
	check_rule(table, 0x95, SP_RBP(40));
	check_rule(table, 0xb0, SP(8));
	check_rule(table, 0xc0, SP(8));
	check_rule(table, 0xd0, OTHER); /* nobody knows where rbp is */
	check_rule(table, 0x100, RULE_NONE);
	check_rule(table, 0x140, ROOT);
	check_rule(table, 0x17f, ROOT);
	check_rule(table, 0x1af, RULE_NONE);
	check_rule(table, 0x1b0, ROOT);
	check_rule(table, 0x1b2, ROOT);
	check_rule(table, 0x1b3, RULE_NONE);
	check_rule(table, 0x200, SP(8));
	check_rule(table, 0x21f, RULE_NONE);
	check_rule(table, 0x220, ROOT);
	check_rule(table, 0x223, RULE_NONE);
	check_rule(table, 0x244, SP(16));
	check_rule(table, 0x248, SP_RBP(16));
	check_rule(table, 0x254, SP(8));
	check_rule(table, 0x284, SP(216));
	check_rule(table, 0x28c, SP_RBP(216));
	check_rule(table, 0x300, RULE_NONE);
}

static void test_go_rows__rules_of_all_kinds(void **state)
{
	static const struct build builds[] = {
		{.functions = usual},
		{.functions = usual, .text = TEXT},
		{.functions = usual, .magic = 0xfffffff0},
		{.functions = usual, .magic = 0xfffffffa},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		struct unwind_table *table;

		assert_int_equal(compile(&builds[i], &table), 0);
		assert_int_equal(table->frames, 11);
		check_usual(table);
		unwind_table_free(table);
	}
}

/* runtime.clone has a second call like this one, and nobody knows which is the thread's. */
static void test_go_rows__a_root_is_proven(void **state)
{
	static const struct made twice[] = {
		{.name = "_rt0_amd64_linux", .start = 0, .steps = {{0, 0x20}}},
		{.name = "runtime.clone",
		 .start = 0x20,
		 .flags = SPWRITE,
		 .code = {0x10, 6, {0x41, 0xff, 0xd4, 0x41, 0xff, 0xd4}}},
		{.name = NULL, .start = 0x80},
	};
	const struct build build = {.functions = twice};
	struct unwind_table *table;

	(void)state;
	assert_int_equal(compile(&build, &table), 0);
	check_rule(table, 0x10, ROOT);
	check_rule(table, 0x30, RULE_NONE);
	check_rule(table, 0x33, RULE_NONE);
	unwind_table_free(table);
}

/* The new thread takes its stack at 0x30, and has no callers. The calling one has no frame. */
static void test_go_rows__threads_begin_in_clone(void **state)
{
	static const struct made clone[] = {
		{.name = "_rt0_amd64_linux", .start = 0, .steps = {{0, 0x20}}},
		{.name = "runtime.clone",
		 .start = 0x20,
		 .flags = SPWRITE,
		 .code = {0x10, 6, {0x48, 0x89, 0xf4, 0x41, 0xff, 0xd4}}},
		{.name = NULL, .start = 0x80},
	};
	const struct build build = {.functions = clone};
	struct unwind_table *table;

	(void)state;
	assert_int_equal(compile(&build, &table), 0);
	check_rule(table, 0x20, RULE_MAKE(RULE_SP, 0, 0, 8, 0));
	check_rule(table, 0x32, RULE_MAKE(RULE_SP, 0, 0, 8, 0));
	check_rule(table, 0x33, ROOT);
	check_rule(table, 0x7f, ROOT);
	unwind_table_free(table);
}

static void test_go_rows__what_is_not_understood_is_refused(void **state)
{
	static const struct made falling[] = {
		{.name = "_rt0_amd64_linux", .start = 0x40, .steps = {{0, 0x20}}},
		{.name = "main.main", .start = 0x20, .steps = {{0, 0x20}}},
		{.name = NULL, .start = 0x80},
	};
	static const struct made later[] = {
		{.name = "_rt0_amd64_linux", .start = 0, .steps = {{0, 0x20}}},
		{.name = "main.main", .start = 0x20, .steps = {{0, 0x20}}},
		{.name = "main.two", .start = 0x40, .steps = {{0, 0x20}}},
		{.name = "main.three", .start = 0x80, .steps = {{0, 0x20}}},
		{.name = "main.four", .start = 0x60, .steps = {{0, 0x20}}},
		{.name = NULL, .start = 0xa0},
	};
	static const struct made outside[] = {
		{.name = "_rt0_amd64_linux", .start = 0, .steps = {{0, 0x20}}},
		{.name = NULL, .start = TEXT_BYTES + 1},
	};
	static const struct {
		struct build build;
		int result;
	} cases[] = {
		{{.functions = usual, .magic = 0xfffffffb}, -ENOENT}, /* Go 1.15 */
		{{.functions = usual, .magic = 0xfffffffa, .entry = TEXT + 0x20}, -ENOENT},
		{{.functions = usual, .text = TEXT + 0x20}, -ENOENT}, /* another linker's */
		{{.functions = usual, .entry = TEXT + 0x20}, -ENOENT},
		{{.functions = usual, .entry = TEXT + 0x21}, -ENOENT},
		{{.functions = usual, .entry = TEXT + 0x900}, -ENOENT},
		{{.functions = usual, .names = 0x1000000}, -ENOENT}, /* none has a name */
		{{.functions = usual, .count = GO_FUNCTIONS_MAX + 1ull}, -EBADMSG},
		{{.functions = usual, .count = UINT64_MAX}, -EBADMSG},
		{{.functions = usual, .count = 40}, -ENOENT},
		{{.functions = later}, -EBADMSG},
		{{.functions = falling, .entry = TEXT + 0x40}, -ENOENT},
		{{.functions = outside}, -ENOENT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct unwind_table *table = NULL;
		int r = compile(&cases[i].build, &table);

		if (r != cases[i].result)
			print_message("case %zu: %d\n", i, r);
		assert_int_equal(r, cases[i].result);
		assert_null(table);
	}
}

/* Two programs with the same table and different code do not share rows. */
static void test_go_rows__the_hash_knows_the_text(void **state)
{
	struct made other[12];
	const struct build builds[] = {{.functions = usual}, {.functions = other}};
	struct unwind_table *tables[3];

	(void)state;
	memcpy(other, usual, sizeof(other));
	other[1].code.bytes[0] = 0x90;
	for (int i = 0; i < 3; i++)
		assert_int_equal(compile(&builds[i % 2], &tables[i]), 0);
	assert_true(tables[0]->content_hash == tables[2]->content_hash);
	assert_true(tables[0]->content_hash != tables[1]->content_hash);
	for (int i = 0; i < 3; i++)
		unwind_table_free(tables[i]);
}

/* Go's linker takes the code of C that begins a thread, without the rules of that code. */
static void test_go_rows__a_thread_of_c_is_a_root(void **state)
{
	static const char *const names[] = {"crosscall1", "crosscall_amd64"};
	struct made other[sizeof(usual) / sizeof(usual[0])];
	struct build build = {.functions = other, .entry = TEXT};
	struct unwind_table *table;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		memcpy(other, usual, sizeof(other));
		other[9] = (struct made){.name = names[i], .start = 0x240};
		assert_int_equal(compile(&build, &table), 0);
		check_rule(table, 0x23f, RULE_NONE);
		check_rule(table, 0x250, ROOT);
		check_rule(table, 0x280, SP(8));
		unwind_table_free(table);
	}
}

/* mov %fs:-8, %rax; cmp 0xb8(%rbx), %rax; mov 0x38(%rdx), %rsp; ...; mov 0x38(%rax), %rsp */
#define SYSTEMSTACK                                                                              \
	{                                                                                        \
		0x64, 0x48, 0x8b, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48, 0x3b, 0x83, 0xb8, 0, \
			0, 0, 0x48, 0x8b, 0x62, 0x38, 0x90, 0x90, 0x48, 0x8b, 0x60, 0x38         \
	}
#define SWITCH(kind, words) RULE_MAKE(RULE_SWITCH, kind, GO_SWITCH_OPERANDS(words, 1, 0, 0), -8, 0)

/* The function that shows the layout comes behind another one. Go 1.16 has no flags. */
static void test_go_rows__changes_of_stacks(void **state)
{
	static const struct made functions[] = {
		{.name = "_rt0_amd64_linux", .start = 0, .steps = {{0, 0x20}}},
		{.name = "runtime.mcall",
		 .start = 0x20,
		 .flags = SPWRITE,
		 .steps = {{0, 0x20}},
		 .code = {0x10, 4, {0x49, 0x8b, 0x66, 0x38}}},
		{.name = "runtime.systemstack",
		 .start = 0x40,
		 .flags = SPWRITE,
		 .steps = {{0, 0x40}},
		 .code = {0, 26, SYSTEMSTACK}},
		{.name = "runtime.sigreturn__sigaction", .start = 0x80, .steps = {{0, 0x20}}},
		{.name = NULL, .start = 0xa0},
	};
	static const struct build builds[] = {
		{.functions = functions},
		{.functions = functions, .magic = 0xfffffff0},
		{.functions = functions, .magic = 0xfffffffa},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		struct unwind_table *table;

		assert_int_equal(compile(&builds[i], &table), 0);
		check_rule(table, 0x33, SP(8));
		check_rule(table, 0x34, SWITCH(GO_SWITCH_LEAVE, 0));
		check_rule(table, 0x3f, SWITCH(GO_SWITCH_LEAVE, 0));
		check_rule(table, 0x53, SP(8));
		check_rule(table, 0x54, SWITCH(GO_SWITCH_SYSTEM, 0));
		check_rule(table, 0x59, SWITCH(GO_SWITCH_SYSTEM, 0));
		check_rule(table, 0x5a, SP(8));
		check_rule(table, 0x7e, SP(8));
		check_rule(table, 0x7f, RULE_MAKE(RULE_SIGNAL, 0, 0, 0, RULE_FLAG_SIGNAL));
		check_rule(table, 0x9f, RULE_MAKE(RULE_SIGNAL, 0, 0, 0, RULE_FLAG_SIGNAL));
		unwind_table_free(table);
	}
}

/*
 * The linker of C makes _start at 0x900 and an FDE for _start. An FDE inside a function of Go is
 * the better source; the rest of Go's functions keep their table.
 */
static void test_go_rows__the_linker_of_c(void **state)
{
	const struct build_cfi_code nothing = {NULL, 0};
	struct build_cfi frames = {0};
	size_t cie = build_cfi_usual_cie(&frames);
	struct build build = {.functions = usual, .entry = TEXT + 0x900, .frames = &frames};
	struct unwind_table *table;

	(void)state;
	build_cfi_fde(&frames, cie, TEXT + 0xd0, 0x20, nothing);
	build_cfi_fde(&frames, cie, TEXT + 0x900, 0x40, nothing);
	build.module_end = TEXT + 0x300;
	assert_int_equal(compile(&build, &table), 0);
	check_rule(table, 0x39, SP_RBP(40));
	check_rule(table, 0xc0, SP(8));
	check_rule(table, 0xd0, SP(8));
	check_rule(table, 0xf0, OTHER);
	check_rule(table, 0x140, ROOT);
	check_rule(table, 0x900, SP(8));
	check_rule(table, 0x940, RULE_NONE);
	unwind_table_free(table);
	build.module_end = TEXT + 0x2f0; /* not this table's code */
	assert_int_equal(compile(&build, &table), 0);
	check_rule(table, 0x39, RULE_NONE);
	check_rule(table, 0xd0, SP(8));
	unwind_table_free(table);
	build_cfi_release(&frames);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_go_rows__rules_of_all_kinds),
		cmocka_unit_test(test_go_rows__a_root_is_proven),
		cmocka_unit_test(test_go_rows__threads_begin_in_clone),
		cmocka_unit_test(test_go_rows__what_is_not_understood_is_refused),
		cmocka_unit_test(test_go_rows__the_hash_knows_the_text),
		cmocka_unit_test(test_go_rows__a_thread_of_c_is_a_root),
		cmocka_unit_test(test_go_rows__changes_of_stacks),
		cmocka_unit_test(test_go_rows__the_linker_of_c),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

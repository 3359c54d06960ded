/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tests/unit/build_cfi.h"
#include "tests/unit/build_elf.h"
#include "tests/unit/build_python.h"
#include "object/elf/image.h"
#include "object/unwind/unwind_table.h"

#define TEXT	   0x10000ull
#define TEXT_SIZE  0x80000ull
#define SP(n)	   RULE_MAKE(RULE_SP, 0, 0, n, 0)
#define DERIVED(n) RULE_MAKE(RULE_SP, 0, 0, n, RULE_FLAG_DERIVED)
#define SUB	   0x48, 0x83, 0xec, 0x08
#define ADD_RET	   0x48, 0x83, 0xc4, 0x08, 0xc3
#define ENDBR	   0xf3, 0x0f, 0x1e, 0xfa
#define GMON	   0x48, 0x8b, 0x05, 1, 2, 3, 4, 0x48, 0x85, 0xc0, 0x74, 0x02, 0xff, 0xd0

static struct build_cfi frames;
static size_t cie;
static struct unwind_table *table;
static u64 damaged;

static void start_frames(void)
{
	build_cfi_release(&frames);
	cie = build_cfi_usual_cie(&frames);
}

/* A function whose CFA is rsp + offset throughout. */
static void add_plain(u64 start, u64 size, unsigned char offset)
{
	build_cfi_fde(&frames, cie, start, size, INSTRUCTIONS(0x0e, offset));
}

static void expect(u64 from, u64 to, u64 rule)
{
	for (u64 pc = from; pc < to; pc++)
		assert_true(unwind_table_rule(table, pc) == rule);
}

static void build_of(struct image *image)
{
	unwind_table_free(table);
	table = NULL;
	assert_int_equal(unwind_table_build(image, &table, &damaged), 0);
	image_close(image);
}

static void build(struct build_elf *elf)
{
	struct image *image = NULL;
	size_t size;
	unsigned char *bytes = build_elf_finish(elf, &size);

	assert_int_equal(image_open_memory(bytes, size, &image), 0);
	free(bytes);
	build_of(image);
}

static void build_stub(const char *section, u64 address, struct build_cfi_code code)
{
	struct build_elf elf;

	build_elf_init(&elf);
	build_elf_text(&elf, TEXT, TEXT_SIZE);
	build_elf_section(&elf, ".eh_frame", SHT_PROGBITS, BUILD_ELF_EH_FRAME, frames.bytes,
			  frames.size);
	build_elf_section(&elf, section, SHT_PROGBITS, address, code.bytes, code.size);
	build(&elf);
}

static void test_stub__init_and_fini_of_the_c_library(void **state)
{
	const u64 at = TEXT + 0x100;

	(void)state;
	start_frames();
	add_plain(TEXT, 0x80, 16);
	add_plain(TEXT + 0x200, 0x20, 24);
	build_stub(".init", at, INSTRUCTIONS(ENDBR, SUB, GMON, 0xe8, 9, 9, 9, 9, ADD_RET));
	expect(TEXT + 0x80, at, RULE_NONE);
	expect(at, at + 8, DERIVED(8));
	expect(at + 8, at + 31, DERIVED(16));
	expect(at + 31, at + 32, DERIVED(8));
	expect(at + 32, TEXT + 0x200, RULE_NONE);
	expect(TEXT + 0x200, TEXT + 0x220, SP(24));
	build_stub(".fini", at, INSTRUCTIONS(SUB, ADD_RET));
	expect(at, at + 4, DERIVED(8));
	expect(at + 4, at + 8, DERIVED(16));
	expect(at + 8, at + 9, DERIVED(8));
	expect(at + 9, TEXT + 0x200, RULE_NONE);
	assert_int_equal(table->frames, 2);
}

static void test_stub__other_bytes_are_none(void **state)
{
	static const unsigned char good[] = {SUB, GMON, ADD_RET};
	const u64 at = TEXT + 0x100;
	unsigned char bytes[sizeof(good) + 1];

	(void)state;
	start_frames();
	add_plain(TEXT, 0x80, 16);
	/* any byte but the displacement; one less, one more */
	for (size_t i = 0; i < sizeof(good); i++) {
		memcpy(bytes, good, sizeof(good));
		bytes[i] ^= 1;
		build_stub(".init", at, (struct build_cfi_code){bytes, sizeof(good)});
		expect(at, at + 1, i >= 7 && i < 11 ? DERIVED(8) : RULE_NONE);
	}
	memcpy(bytes, good, sizeof(good));
	bytes[sizeof(good)] = 0x90;
	for (size_t i = 0; i <= sizeof(good) + 1; i++) {
		build_stub(".init", at, (struct build_cfi_code){bytes, i});
		expect(at, at + 1, i == sizeof(good) ? DERIVED(8) : RULE_NONE);
	}
	build_stub(".text", at, (struct build_cfi_code){good, sizeof(good)});
	expect(at, at + 1, RULE_NONE);
}

/* The code lies outside of the text, at both ends of the address space, and across functions. */
static void test_stub__elsewhere_and_across_functions(void **state)
{
	const struct build_cfi_code code = INSTRUCTIONS(SUB, ADD_RET);
	static const u64 places[] = {0, 8, TEXT - 4, TEXT + TEXT_SIZE - 4, UINT64_MAX - 4};

	(void)state;
	start_frames();
	add_plain(TEXT + 0x100, 0x80, 16);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		build_stub(".fini", places[i], code);
		expect(TEXT, TEXT + 0x100, RULE_NONE);
		expect(TEXT + TEXT_SIZE - 8, TEXT + TEXT_SIZE + 8, RULE_NONE);
	}
	for (u64 at = TEXT + 0x100 - code.size + 1; at < TEXT + 0x180; at++) {
		build_stub(".fini", at, code);
		expect(TEXT, TEXT + 0x100, RULE_NONE);
		expect(TEXT + 0x100, TEXT + 0x180, SP(16));
		expect(TEXT + 0x180, TEXT + 0x200, RULE_NONE);
	}
}

/* ---- .fini_array ---- */

#define DTORS                                                                                     \
	0x80, 0x3d, 1, 2, 3, 4, 0, 0x75, 0x2b, 0x55, 0x48, 0x83, 0x3d, 1, 2, 3, 4, 0, 0x48, 0x89, \
		0xe5, 0x74, 0x0c, 0x48, 0x8b, 0x3d, 1, 2, 3, 4, 0xe8, 1, 2, 3, 4, 0xe8, 1, 2, 3,  \
		4, 0xc6, 0x05, 1, 2, 3, 4, 1, 0x5d, 0xc3, 0x0f, 0x1f, 0, 0xc3

/* The code is all of the text, at TEXT. */
static void build_dtors(u64 address, const void *code, size_t code_size)
{
	struct build_elf elf;

	build_elf_init(&elf);
	build_elf_segment(&elf, PT_LOAD, PF_R | PF_X, TEXT, code, code_size);
	build_elf_text(&elf, TEXT + 0x1000, 0x1000);
	build_elf_section(&elf, ".eh_frame", SHT_PROGBITS, BUILD_ELF_EH_FRAME, frames.bytes,
			  frames.size);
	build_elf_section(&elf, ".fini_array", SHT_FINI_ARRAY, 0x200000, &address, sizeof(address));
	build(&elf);
}

static void test_stub__first_function_of_fini_array(void **state)
{
	static const unsigned char code[] = {0x90, 0x90, ENDBR, DTORS, 0x90};
	unsigned char bytes[sizeof(code)];
	const u64 at = TEXT + 2;

	(void)state;
	start_frames();
	add_plain(TEXT + 0x1000, 0x80, 16);
	build_dtors(at, code, sizeof(code));
	expect(TEXT, at, RULE_NONE);
	expect(at, at + 14, DERIVED(8));
	expect(at + 14, at + 52, RULE_MAKE(RULE_SP, 0, 1, 16, RULE_FLAG_DERIVED));
	expect(at + 52, at + 57, DERIVED(8));
	expect(at + 57, TEXT + 0x1000, RULE_NONE);
	/* cut short at any byte; elsewhere; with any byte another that is not an address */
	for (size_t size = 3; size < sizeof(code) - 1; size++) {
		build_dtors(at, code, size);
		expect(at, at + 1, RULE_NONE);
	}
	for (u64 address = TEXT - 8; address < TEXT + sizeof(code) + 8; address++) {
		build_dtors(address, code, sizeof(code));
		expect(at + 4, at + 5, address == at || address == at + 4 ? DERIVED(8) : RULE_NONE);
	}
	for (size_t i = 6; i < sizeof(code) - 1; i++) {
		memcpy(bytes, code, sizeof(code));
		bytes[i] ^= 0x80;
		build_dtors(at + 4, bytes, sizeof(bytes));
		expect(at + 4, at + 5,
		       code[i] >= 1 && code[i] <= 4 && i != 52 ? DERIVED(8) : RULE_NONE);
	}
}

/* ---- contexts of Boost ---- */

#define CONTEXT_AT (PYTHON_TEXT + 0x100)
#define MAKE                                                                                      \
	0x48, 0x89, 0xf8, 0x48, 0x83, 0xe0, 0xf0, 0x48, 0x8d, 0x40, 0xb8, 0x48, 0x89, 0x50, 0x30, \
		0x0f, 0xae, 0x18, 0xd9, 0x78, 0x04, 0x48, 0x8d, 0x0d, 1, 2, 3, 4, 0x48, 0x89,     \
		0x48, 0x40, 0x48, 0x8d, 0x0d, 1, 2, 3, 4, 0x48, 0x89, 0x48, 0x38, 0xc3
#define START  0x55, 0xff, 0xe3
#define FINISH 0x48, 0x31, 0xff, 0xe8, 1, 2, 3, 4, 0xf4

static void build_context(const char *name, const void *code, size_t size)
{
	static struct build_python python;

	build_python_init(&python, 64);
	build_python_function(&python, name, CONTEXT_AT, code, size);
	python.eh_frame = frames.bytes;
	python.eh_frame_size = frames.size;
	build_of(build_python_image(&python));
}

static void test_stub__start_of_a_context(void **state)
{
	const u64 root = RULE_MAKE(RULE_END, 0, 0, 0, RULE_FLAG_ENTRY), from = CONTEXT_AT + 44;
	static const unsigned char code[] = {MAKE, START, FINISH},
				   landed[] = {ENDBR, MAKE, ENDBR, START, ENDBR, FINISH};
	unsigned char bytes[sizeof(code)];

	(void)state;
	start_frames();
	add_plain(PYTHON_TEXT, 0x80, 16);
	build_context("make_fcontext", code, sizeof(code));
	expect(CONTEXT_AT, from, RULE_NONE);
	expect(from, from + 12, root);
	expect(from + 12, from + 64, RULE_NONE);
	build_context("make_fcontext", landed, sizeof(landed));
	expect(CONTEXT_AT, from + 4, RULE_NONE);
	expect(from + 4, from + 24, root);
	expect(from + 24, from + 64, RULE_NONE);
	build_context("make_context", code, sizeof(code));
	expect(CONTEXT_AT, from + 64, RULE_NONE);
	/* any byte but those of addresses and places */
	for (size_t i = 0; i < sizeof(code); i++) {
		memcpy(bytes, code, sizeof(code));
		bytes[i] ^= 0x80;
		build_context("make_fcontext", bytes, sizeof(bytes));
		expect(from, from + 1,
		       (code[i] <= 4 && i != 20) || i == 10 || i == 14 || i == 31 || i == 42
			       ? root
			       : RULE_NONE);
	}
}

static int end_frames(void **state)
{
	(void)state;
	build_cfi_release(&frames);
	unwind_table_free(table);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stub__init_and_fini_of_the_c_library),
		cmocka_unit_test(test_stub__other_bytes_are_none),
		cmocka_unit_test(test_stub__elsewhere_and_across_functions),
		cmocka_unit_test(test_stub__first_function_of_fini_array),
		cmocka_unit_test(test_stub__start_of_a_context),
	};

	return cmocka_run_group_tests(tests, NULL, end_frames);
}

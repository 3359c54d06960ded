/* SPDX-License-Identifier: Apache-2.0 */
/* Code objects and texts of CPython, in memory that the test builds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "worker/runtime/cpython_code.h"
#include "worker/runtime/cpython_layout.h"
#include "worker/runtime/cpython_lines.h"
#include "worker/runtime/memory.h"
#include "worker/runtime/told.h"

#define AT	    0x7f0000000000ull
#define BYTES	    0x40000
#define CODE	    (AT + 0x1000)
#define NAME	    (AT + 0x2000)
#define FILE_	    (AT + 0x3000)
#define TABLE	    (AT + 0x4000)
#define TABLE_BYTES 64u
#define ONE	    (1u << 2 | 1u << 5) /* state: one byte a character, not ASCII */
#define ASCII	    (ONE | 1u << 6)
#define TWO	    (2u << 2 | 1u << 5)
#define FOUR	    (4u << 2 | 1u << 5)

static unsigned char process[BYTES];
static struct cpython_layout layout;
static struct memory memory;
static const struct cpython_types types = {.code = 0x500, .text = 0x600, .bytes = 0x700};

static void put(uint64_t address, const void *bytes, size_t size)
{
	memcpy(process + (address - AT), bytes, size);
}

static void put_word(uint64_t address, uint64_t word)
{
	put(address, &word, sizeof(word));
}

static void put_text(uint64_t address, uint32_t state, uint64_t length, const void *characters,
		     size_t size)
{
	uint64_t data = address + layout.text_compact;

	if (state == ASCII)
		data = address + layout.text_ascii;
	put(address + layout.text_state, &state, sizeof(state));
	put_word(address + layout.text_length, length);
	put(data, characters, size);
}

/* A function `outer` of lines 40 and 41 in a.py, as 3.11 has it. */
static int setup(void **state)
{
	static const unsigned char lines[] = {0x80, 0x12, 0x80 | 11 << 3, 1, 2};
	const uint32_t first_line = 40;

	(void)state;
	memset(process, 0, sizeof(process));
	assert_int_equal(cpython_layout_find(CPYTHON_VERSION(3, 11), &layout), 0);
	put_word(CODE + layout.object_type, types.code);
	put_word(NAME + layout.object_type, types.text);
	put_word(FILE_ + layout.object_type, types.text);
	put_word(TABLE + layout.object_type, types.bytes);
	put_word(CODE + layout.code_qualified, NAME);
	put_word(CODE + layout.code_file, FILE_);
	put_word(CODE + layout.code_lines, TABLE);
	put(CODE + layout.code_first_line, &first_line, sizeof(first_line));
	put_text(NAME, ASCII, 5, "outer", 5);
	put_text(FILE_, ASCII, 4, "a.py", 4);
	put_word(TABLE + layout.bytes_size, sizeof(lines));
	put(TABLE + layout.bytes_data, lines, sizeof(lines));
	memory = (struct memory){0};
	return memory_add(&memory, AT, process, sizeof(process));
}

static int read_code(struct told_code *ret_code)
{
	return cpython_code_read(&layout, &memory, CODE, ret_code);
}

static int64_t read_line(uint32_t offset)
{
	unsigned char table[TABLE_BYTES];
	size_t size;
	int r = cpython_code_lines(&layout, &memory, CODE, table, sizeof(table), &size);

	if (r < 0)
		return r;
	return cpython_line(layout.lines, table, size, 40, offset);
}

static void assert_name(const char *wanted)
{
	struct told_code code;

	assert_int_equal(read_code(&code), 0);
	assert_string_equal(code.name, wanted);
}

static void test_cpython_code__function(void **state)
{
	struct told_code code;

	(void)state;
	assert_int_equal(read_code(&code), 0);
	assert_string_equal(code.name, "outer");
	assert_string_equal(code.file, "a.py");
	assert_int_equal(code.first_line, 40);
	assert_int_equal(read_line(0), 40);
	assert_int_equal(read_line(2), 41);
	assert_int_equal(read_line(4), -ENOENT);
}

static int check_types(void)
{
	return cpython_code_check(&layout, &types, &memory, CODE);
}

/* Any of four objects may be another one; nothing but a line table may be missing. */
static void test_cpython_code__types(void **state)
{
	const uint64_t objects[] = {CODE, NAME, FILE_, TABLE};
	const uint16_t pointers[] = {layout.code_qualified, layout.code_file};

	(void)state;
	assert_int_equal(check_types(), 0);
	for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++) {
		uint64_t type;

		assert_int_equal(memory_word(&memory, objects[i] + layout.object_type, &type), 0);
		put_word(objects[i] + layout.object_type, type + 8);
		assert_int_equal(check_types(), -EPROTO);
		put_word(objects[i] + layout.object_type, type);
	}
	put_word(CODE + layout.code_lines, 8);
	assert_int_equal(check_types(), 0);
	put_word(CODE + layout.code_lines, NAME);
	assert_int_equal(check_types(), -EPROTO);
	put_word(CODE + layout.code_lines, ~0ull);
	assert_int_equal(check_types(), 0);
	for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++) {
		put_word(CODE + pointers[i], ~0ull);
		assert_int_equal(check_types(), -EFAULT);
		put_word(CODE + pointers[i], NAME);
	}
	memory = (struct memory){0};
	assert_int_equal(check_types(), -EFAULT);
}

/* Without a global lock an object has its type further behind. */
static void test_cpython_code__types_elsewhere(void **state)
{
	(void)state;
	layout.object_type = 24;
	assert_int_equal(check_types(), -EPROTO);
	put_word(CODE + 24, types.code);
	put_word(NAME + 24, types.text);
	put_word(FILE_ + 24, types.text);
	put_word(TABLE + 24, types.bytes);
	assert_int_equal(check_types(), 0);
}

static void test_cpython_code__name_of_an_old_version(void **state)
{
	(void)state;
	layout.code_qualified = CPYTHON_NONE;
	put_word(CODE + layout.code_name, NAME);
	assert_name("outer");
}

static void test_cpython_code__texts_of_all_widths(void **state)
{
	static const uint8_t one[] = {'g', 'r', 0xfc, 0xdf, 'e'};
	static const uint16_t two[] = {0x65e5, 0x672c, 'x'};
	static const uint32_t four[] = {0x1f600, 'x'};

	(void)state;
	put_text(NAME, ONE, 5, one, sizeof(one));
	assert_name("gr\u00fc\u00dfe");
	put_text(NAME, TWO, 3, two, sizeof(two));
	assert_name("\u65e5\u672cx");
	put_text(NAME, FOUR, 2, four, sizeof(four));
	assert_name("\U0001f600x");
	put_text(NAME, ASCII, 0, "", 0);
	assert_name("");
}

static void test_cpython_code__a_state_whose_first_field_is_larger(void **state)
{
	static const uint16_t two[] = {0x65e5, 0x672c, 'x'};

	(void)state;
	layout.text_state_shift = 6;
	put_text(FILE_, ONE << 6, 4, "a.py", 4);
	put_text(NAME, TWO << 6 | 1, 3, two, sizeof(two));
	assert_name("\u65e5\u672cx");
}

/* A mark takes the place of a number that is no character, and of a NUL. */
static void test_cpython_code__characters_that_are_none(void **state)
{
	static const uint16_t half[] = {0xd83d, 'x', 0xdfff};
	static const uint32_t large[] = {0x110000, 0xffffffff, 'x'};

	(void)state;
	put_text(NAME, TWO, 3, half, sizeof(half));
	assert_name("\ufffdx\ufffd");
	put_text(NAME, FOUR, 3, large, sizeof(large));
	assert_name("\ufffd\ufffdx");
	put_text(NAME, ASCII, 3, "a\0b", 3);
	assert_name("a\ufffdb");
}

/* A cut text ends with a whole character. */
static void test_cpython_code__long_texts_are_cut(void **state)
{
	static uint16_t letters[4 * TOLD_NAME_BYTES];
	struct told_code code;

	(void)state;
	for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
		letters[i] = 0x65e5;
	put_text(NAME, TWO, sizeof(letters) / sizeof(*letters), letters, sizeof(letters));
	assert_int_equal(read_code(&code), 0);
	assert_int_equal(strlen(code.name), (TOLD_NAME_BYTES - 1) / 3 * 3);
	/* longer than any memory */
	put_word(NAME + layout.text_length, INT64_MAX);
	assert_int_equal(read_code(&code), 0);
	assert_int_equal(strlen(code.name), (TOLD_NAME_BYTES - 1) / 3 * 3);
}

static void test_cpython_code__damaged_objects(void **state)
{
	const uint32_t kinds[] = {0, 3, 5, 7};
	struct told_code code;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		put_text(NAME, kinds[i] << 2 | 1u << 5, 1, "x", 1);
		assert_int_equal(read_code(&code), -EBADMSG);
	}
	put_text(NAME, ASCII & ~(1u << 5), 1, "x", 1); /* not compact */
	assert_int_equal(read_code(&code), -EBADMSG);
	put_text(NAME, ASCII, 1ull << 63, "x", 1);
	assert_int_equal(read_code(&code), -EBADMSG);
	put_word(CODE + layout.code_qualified, AT + BYTES + 0x10000);
	assert_int_equal(read_code(&code), -EFAULT);
	put_word(CODE + layout.code_qualified, ~0ull);
	assert_int_equal(read_code(&code), -EFAULT);
}

static void test_cpython_code__damaged_lines(void **state)
{
	(void)state;
	put_word(TABLE + layout.bytes_size, 1);
	assert_int_equal(read_line(0), -EBADMSG);
	put_word(TABLE + layout.bytes_size, 0);
	assert_int_equal(read_line(0), -ENOENT);
	put_word(CODE + layout.code_lines, 8);
	assert_int_equal(read_line(0), -EFAULT);
}

/* An event has room for a part of a long table, and for a part of a long text. */
static void test_cpython_code__cut_bytes(void **state)
{
	unsigned char table[TABLE_BYTES];
	struct told_code code;
	size_t size;

	(void)state;
	assert_int_equal(cpython_code_lines(&layout, &memory, CODE, table, sizeof(table), &size),
			 0);
	assert_int_equal(size, 5);
	put_word(TABLE + layout.bytes_size, 1ull << 40);
	assert_int_equal(cpython_code_lines(&layout, &memory, CODE, table, sizeof(table), &size),
			 1);
	assert_int_equal(size, sizeof(table));
	assert_int_equal(read_line(0), 40);
	memory = (struct memory){0};
	assert_int_equal(memory_add(&memory, CODE, process + (CODE - AT), 256), 0);
	assert_int_equal(memory_add(&memory, NAME, process + (NAME - AT), layout.text_ascii + 3),
			 0);
	assert_int_equal(memory_add(&memory, FILE_, process + (FILE_ - AT), layout.text_ascii), 0);
	assert_int_equal(cpython_code_read(&layout, &memory, CODE, &code), -EFAULT);
	assert_string_equal(code.name, "out");
	assert_int_equal(read_line(0), -EFAULT);
}

#define TEST(name) cmocka_unit_test_setup(test_cpython_code__##name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(function),
		TEST(types),
		TEST(types_elsewhere),
		TEST(name_of_an_old_version),
		TEST(texts_of_all_widths),
		TEST(a_state_whose_first_field_is_larger),
		TEST(characters_that_are_none),
		TEST(long_texts_are_cut),
		TEST(damaged_objects),
		TEST(damaged_lines),
		TEST(cut_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

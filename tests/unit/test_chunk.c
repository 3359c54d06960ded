/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "object/unwind/chunk.h"
#include "object/unwind/unwind_table.h"

#define NONE	 7 /* the index of rows without information in these tests */
#define ROWS_MAX 40000

static u32 pcs[ROWS_MAX];
static u16 rules[ROWS_MAX];
static struct chunk_rows rows = {pcs, rules, 0, UINT64_MAX, NULL};
static struct unwind_table table;

static void start_rows(void)
{
	rows.count = 0;
}

static void add(u32 pc, u16 rule)
{
	pcs[rows.count] = pc;
	rules[rows.count++] = rule;
}

static void write_all(void)
{
	free(table.chunk_at);
	free(table.chunk_words);
	free(table.words);
	table = (struct unwind_table){.words = NULL};
	assert_int_equal(chunk_write_all(&rows, NONE, &table), 0);
}

static const u16 *chunk(u32 number)
{
	return (const u16 *)(table.words + table.chunk_at[number]);
}

static u32 find(u32 pc)
{
	u32 at = pc >> CHUNK_BITS < table.chunks ? table.chunk_at[pc >> CHUNK_BITS] : CHUNK_NONE;

	return at == CHUNK_NONE ? NONE : chunk_find(table.words + at, pc);
}

/* Every byte up to `end` has the rule of the last row before it. */
static void expect_rows_up_to(u32 end)
{
	size_t row = 0;

	for (u32 pc = 0; pc < end; pc++) {
		while (row < rows.count && pcs[row] <= pc)
			row++;
		assert_int_equal(find(pc), row > 0 ? rules[row - 1] : NONE);
	}
}

static void test_chunk__words_as_abi_h_says(void **state)
{
	static const u16 page_rows[] = {1, 3, 3, 3, 5};
	const u16 *half;

	(void)state;
	start_rows();
	add(0x10, 1);
	add(0x20, NONE);
	add(0x305, 1);
	add(0x315, 2);
	write_all();
	half = chunk(0);
	assert_memory_equal(half, page_rows, sizeof(page_rows));
	assert_int_equal(half[CHUNK_PAGES], 5);
	assert_int_equal(half[CHUNK_ESCAPES_AT], 0);
	assert_int_equal(half[CHUNK_ROWS_AT], 5);
	assert_int_equal(half[CHUNK_HEAD_U16 - 1], 0);
	assert_int_equal(half[CHUNK_HEAD_U16], NONE << 8);
	assert_int_equal(half[CHUNK_HEAD_U16 + 1], 0x0110);
	assert_int_equal(half[CHUNK_HEAD_U16 + 2], 0x20 | NONE << 8);
	assert_int_equal(half[CHUNK_HEAD_U16 + 3], 0x0105);
	assert_int_equal(half[CHUNK_HEAD_U16 + 4], 0x0215);
	assert_int_equal(half[CHUNK_HEAD_U16 + 5], 0); /* padding to a word */
	assert_int_equal(table.words_count, CHUNK_HEAD_WORDS + 3);
	assert_int_equal(table.chunk_words[0], table.words_count);
	expect_rows_up_to(0x4000);
}

static void test_chunk__escapes_are_sorted_by_row(void **state)
{
	const u32 *escapes;

	(void)state;
	start_rows();
	add(0x10, ROW_ESCAPE - 1);
	add(0x20, ROW_ESCAPE);
	add(0x30, 3);
	add(0x40, 0xffff);
	write_all();
	assert_int_equal(chunk(0)[CHUNK_ESCAPES_AT], 2);
	assert_int_equal(chunk(0)[CHUNK_HEAD_U16 + 1], 0x10 | (ROW_ESCAPE - 1) << 8);
	assert_int_equal(chunk(0)[CHUNK_HEAD_U16 + 2], 0x20 | ROW_ESCAPE << 8);
	escapes = (const u32 *)chunk(0) + CHUNK_HEAD_WORDS + 3;
	assert_int_equal(escapes[0], 2 | ROW_ESCAPE << 16);
	assert_int_equal(escapes[1], 4 | 0xffffu << 16);
	assert_int_equal(table.chunk_words[0], CHUNK_HEAD_WORDS + 3 + 2);
	expect_rows_up_to(0x4000);
}

static void test_chunk__an_escaped_rule_carries_into_the_next_chunks(void **state)
{
	(void)state;
	start_rows();
	add(0x100, 1000);
	add(0xc000, 2000);
	add(0xc800, NONE);
	write_all();
	assert_int_equal(table.chunks, 4);
	assert_int_equal(chunk(1)[CHUNK_HEAD_U16], ROW_ESCAPE << 8);
	assert_int_equal(chunk(1)[CHUNK_ROWS_AT], 1);
	assert_int_equal(chunk(3)[CHUNK_ROWS_AT], 2);
	expect_rows_up_to(0x14000);
}

static void test_chunk__chunks_without_rows_are_left_out(void **state)
{
	(void)state;
	start_rows();
	add(0x8000, 1);
	add(0x8001, NONE);
	add(0x14000, 1);
	add(0x18000, NONE);
	write_all();
	assert_int_equal(table.chunks, 7);
	assert_int_equal(table.chunk_at[0], CHUNK_NONE);
	assert_int_equal(table.chunk_at[1], CHUNK_NONE);
	assert_int_equal(table.chunk_words[1], 0);
	assert_int_equal(table.chunk_at[2], 0);
	assert_int_equal(table.chunk_at[3], CHUNK_NONE);
	assert_int_equal(table.chunk_at[6], CHUNK_NONE);
	expect_rows_up_to(0x1c000);
}

static void test_chunk__a_row_for_every_byte(void **state)
{
	(void)state;
	start_rows();
	for (u32 pc = 0; pc < 2u << CHUNK_BITS; pc++)
		add(pc, (u16)(pc * 7919 % 20000));
	write_all();
	assert_int_equal(chunk(0)[CHUNK_ROWS_AT], CHUNK_ROWS_MAX - 1);
	assert_int_equal(chunk(1)[CHUNK_ROWS_AT], CHUNK_ROWS_MAX - 1);
	assert_true(table.chunk_words[0] < SEGMENT_WORDS);
	expect_rows_up_to(2u << CHUNK_BITS);
}

static void test_chunk__rows_at_all_distances(void **state)
{
	u32 pc = 3;

	(void)state;
	start_rows();
	for (u32 i = 0; pc < 1u << 19; i++) {
		add(pc, (u16)(i % 300));
		pc += 1 + i * i % 997;
	}
	write_all();
	expect_rows_up_to(1u << 19);
}

static int release(void **state)
{
	(void)state;
	free(table.chunk_at);
	free(table.chunk_words);
	free(table.words);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chunk__words_as_abi_h_says),
		cmocka_unit_test(test_chunk__escapes_are_sorted_by_row),
		cmocka_unit_test(test_chunk__an_escaped_rule_carries_into_the_next_chunks),
		cmocka_unit_test(test_chunk__chunks_without_rows_are_left_out),
		cmocka_unit_test(test_chunk__a_row_for_every_byte),
		cmocka_unit_test(test_chunk__rows_at_all_distances),
	};

	return cmocka_run_group_tests_name("chunk", tests, NULL, release);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups in mapping blocks and chunked tables against searches that look at everything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/bpf/host.h"

#define ROWS_MAX 20000u
static struct build_table table;
static struct build_row rows[ROWS_MAX];
static size_t row_count;

static int setup(void **state)
{
	(void)state;
	build_init(&host.build);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	build_free(&host.build);
	return 0;
}

/* ---- mappings ---- */

static struct mapping_entry mappings[BLOCK_MAPPINGS_MAX];

/*
 * Mapping i is [0x10000 * (i + 1), + 0x8000 or 0x10000). Mappings of odd number touch the next one.
 */
static void mappings_publish(u32 count)
{
	build_reset(&host.build);
	for (u32 i = 0; i < count; i++)
		mappings[i] = (struct mapping_entry){
			.start = 0x10000ull * (i + 1),
			.end = 0x10000ull * (i + 1) + (i & 1 ? 0x10000 : 0x8000),
			.bias = i,
			.first_page = i + 1,
			.pages = i + 2,
			.directory = i + 3,
			.dictionary = i + 4,
			.flags = MAPPING_HAS_TABLE};
	host.walk.block = build_block(&host.build, mappings, count);
	host.walk.mappings = count;
}

static void expect_mapping(u64 address, const struct mapping_entry *entry)
{
	struct walk *walk = &host.walk;

	walk_init(walk);
	if (!entry) {
		assert_int_equal(table_find_mapping(address), TABLE_FAILED);
		assert_true(walk->mapping_start > walk->mapping_end);
		return;
	}
	assert_int_equal(table_find_mapping(address), 0);
	assert_int_equal(walk->mapping_start, entry->start);
	assert_int_equal(walk->mapping_end, entry->end);
	assert_int_equal(walk->bias, entry->bias);
	assert_int_equal(walk->first_page, entry->first_page);
	assert_int_equal(walk->pages, entry->pages);
	assert_int_equal(walk->directory, entry->directory);
	assert_int_equal(walk->dictionary, entry->dictionary);
	assert_int_equal(walk->mapping_flags, entry->flags);
}

static void expect_mappings(u32 count)
{
	mappings_publish(count);
	for (u32 i = 0; i < count; i++) {
		const struct mapping_entry *entry = &mappings[i];
		bool gap = !(i & 1) || i + 1 == count;

		expect_mapping(entry->start, entry);
		expect_mapping(entry->end - 1, entry);
		expect_mapping((entry->start + entry->end) / 2, entry);
		expect_mapping(entry->end, gap ? NULL : entry + 1);
	}
	expect_mapping(0, NULL);
	expect_mapping(mappings[0].start - 1, NULL);
	expect_mapping(mappings[count - 1].end + 0x100000, NULL);
	expect_mapping(WALK_ADDRESS_END - 1, NULL);
}

static void test_table__finds_mappings(void **state)
{
	static const u32 counts[] = {100, 255, 256, 257, 1000, 4095, 4096, 4097, 8190, 8191};

	(void)state;
	for (u32 count = 1; count <= 70; count++)
		expect_mappings(count);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		expect_mappings(counts[i]);
}

static void test_table__no_mappings(void **state)
{
	(void)state;
	mappings_publish(1);
	host.walk.mappings = 0;
	expect_mapping(mappings[0].start, NULL);
	host.walk.mappings = 1;
	host.walk.block = 5u << SEGMENT_WORD_BITS;
	expect_mapping(mappings[0].start, NULL);
	host.walk.block = ~0u;
	expect_mapping(mappings[0].start, NULL);
}

static void test_table__kernel_addresses_have_no_mapping(void **state)
{
	(void)state;
	mappings_publish(1);
	u32 *start = build_at(&host.build, host.walk.block);

	memset(start, 0, 8);
	memset(start + 16, 0, 8);
	memset(start + 18, 0xff, 8);
	assert_int_equal(table_find_mapping(WALK_ADDRESS_END - 1), 0);
	assert_int_equal(table_find_mapping(WALK_ADDRESS_END), TABLE_FAILED);
	assert_int_equal(table_find_mapping(~0ull), TABLE_FAILED);
}

/* ---- rules ---- */

static void row(u64 pc, u64 rule)
{
	assert_true(row_count < ROWS_MAX);
	rows[row_count++] = (struct build_row){pc, rule};
}

static u64 rule_number(u32 i)
{
	return RULE_MAKE(RULE_SP, 0, 0, 8 * (i + 1), 0);
}

static void rows_clear(void)
{
	row_count = 0;
	table.rules = 0;
	build_reset(&host.build);
}

static void rows_publish(u64 end)
{
	struct walk *walk = &host.walk;

	build_table(&host.build, &table, rows, row_count, end);
	walk->first_page = table.first_page;
	walk->pages = table.pages;
	walk->directory = table.directory;
	walk->dictionary = table.dictionary;
}

/* The rule is the naive one, on the whole range, which ends at rows or at the granule. */
static void expect_rule(u64 pc)
{
	u64 granule = pc & ~63ull, range = table_find_rule(pc);
	u64 want = build_naive(&table, rows, row_count, pc);
	u64 first = range >> 6, last = range & 63;

	assert_true(range <= 4095);
	assert_int_equal(host.walk.rule, want);
	assert_true(first <= (pc & 63) && (pc & 63) <= last);
	for (u64 i = first; i <= last; i++)
		assert_int_equal(build_naive(&table, rows, row_count, granule + i), want);
}

static void expect_rules(u64 from, u64 to)
{
	for (u64 pc = from; pc < to; pc++)
		expect_rule(pc);
}

static void test_table__rules_at_page_and_chunk_boundaries(void **state)
{
	const u64 start = 0x40000;

	(void)state;
	rows_clear();
	for (u32 page = 0; page < 3 * CHUNK_PAGES; page += 1 + page % 3) {
		row(start + page * 256, rule_number(page));
		row(start + page * 256 + 1 + page % 254, rule_number(page + 1000));
		row(start + page * 256 + 255, rule_number(page + 2000));
	}
	rows_publish(start + 3 * CHUNK_PAGES * 256);
	expect_rules(start - 300, start + 3 * CHUNK_PAGES * 256 + 300);
}

static void test_table__carry_in_crosses_chunks(void **state)
{
	const u64 start = 0x40000, chunk = 1 << CHUNK_BITS;

	(void)state;
	rows_clear();
	row(start + 100, rule_number(1));
	row(start + chunk - 1, rule_number(2));
	row(start + 3 * chunk + 77, rule_number(3));
	rows_publish(start + 5 * chunk);
	assert_int_not_equal(*build_at(&host.build, table.directory + 2), 0);
	expect_rules(start, start + 5 * chunk + 64);
}

static void test_table__empty_chunk_has_no_rule(void **state)
{
	const u64 start = 0x40000, chunk = 1 << CHUNK_BITS;

	(void)state;
	rows_clear();
	row(start, rule_number(1));
	row(start + 1000, 0);
	row(start + 3 * chunk, rule_number(3));
	rows_publish(start + 4 * chunk);
	assert_int_equal(*build_at(&host.build, table.directory + 1), 0);
	assert_int_equal(table_find_rule(start + chunk + 5), 63);
	assert_int_equal(host.walk.rule, 0);
	expect_rules(start, start + 4 * chunk + 64);
}

static void test_table__outside_of_the_table_is_no_rule(void **state)
{
	static const u64 outside[] = {0, 255, 0x3ffff, 0x44000, 1ull << 40, 1ull << 47, ~0ull};

	(void)state;
	rows_clear();
	row(0x40000, rule_number(1));
	rows_publish(0x44000);
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		host.walk.rule = 1;
		assert_int_equal(table_find_rule(outside[i]), 63);
		assert_int_equal(host.walk.rule, 0);
	}
}

static void test_table__page_with_a_row_per_byte(void **state)
{
	const u64 start = 0x40000;

	(void)state;
	for (u32 count = 1; count <= 256; count++) {
		rows_clear();
		row(start, rule_number(500));
		for (u32 i = 0; i < count; i++)
			row(start + 256 + 256 - count + i, rule_number(i % 200));
		row(start + 513, rule_number(501));
		rows_publish(start + 1024);
		expect_rules(start, start + 1024);
	}
}

static void test_table__chunk_full_of_rows(void **state)
{
	const u64 start = 0x40000;

	(void)state;
	rows_clear();
	for (u32 i = 0; i < 1 << CHUNK_BITS; i++)
		row(start + i, rule_number(i * 7 % 3000));
	rows_publish(start + (1 << CHUNK_BITS));
	expect_rules(start, start + (1 << CHUNK_BITS) + 64);
}

/* All 16385 rows, the carry-in among them, are escapes. */
static void test_table__chunk_full_of_escapes(void **state)
{
	const u64 start = 0x40000;

	(void)state;
	rows_clear();
	for (u32 i = 0; i < ROW_ESCAPE; i++)
		build_rule(&table, rule_number(5000 + i));
	for (u32 i = 0; i < 1 << CHUNK_BITS; i++)
		row(start + i, rule_number(i % 1000));
	rows_publish(start + (1 << CHUNK_BITS));
	expect_rules(start, start + (1 << CHUNK_BITS) + 64);
}

/* Indices from 255 on do not fit a row's byte; 254 does. */
static void test_table__escapes(void **state)
{
	const u64 start = 0x40000;

	(void)state;
	for (u32 rules = 254; rules <= 260; rules++) {
		rows_clear();
		for (u32 i = 0; i < rules; i++)
			row(start + i * 3, rule_number(i));
		rows_publish(start + 1024);
		expect_rules(start, start + 1024);
	}
}

static void random_rows(u64 *seed, u32 count, u32 rules, u32 stride)
{
	u64 pc = 0x400000 + build_random(seed) % 40000;

	rows_clear();
	for (u32 i = 0; i < count; i++) {
		u32 rule = (u32)(build_random(seed) % rules);

		if (row_count && rule_number(rule) == rows[row_count - 1].rule)
			rule = rules;
		row(pc, rule && build_random(seed) % 16 ? rule_number(rule) : 0);
		pc += 1 + build_random(seed) % stride;
		if (!(build_random(seed) % 500))
			pc += build_random(seed) % 100000;
	}
	rows_publish(pc);
}

static void test_table__random_rows(void **state)
{
	static const u32 rules[] = {2, 30, 254, 256, 300, 3000}, strides[] = {1, 2, 10, 300, 3000};
	u64 seed = 0x1234567;

	(void)state;
	for (u32 i = 0; i < 60; i++) {
		random_rows(&seed, 800, rules[i % 6], strides[i % 5]);
		for (u32 k = 0; k < 200; k++) {
			const struct build_row *at = &rows[build_random(&seed) % row_count];

			expect_rule(at->pc - 1);
			expect_rule(at->pc);
			expect_rule(at->pc + 1);
			expect_rule(at->pc + build_random(&seed) % 400);
		}
	}
}

/* A walk caches the whole range, so the range must be the largest one. */
static void test_table__range_is_the_largest(void **state)
{
	const u64 pc = 0x40080;

	(void)state;
	rows_clear();
	row(pc + 10, rule_number(1));
	row(pc + 20, rule_number(2));
	row(pc + 64, rule_number(3));
	rows_publish(pc + 1024);
	assert_int_equal(table_find_rule(pc + 3), 0 << 6 | 9);
	assert_int_equal(table_find_rule(pc + 10), 10 << 6 | 19);
	assert_int_equal(table_find_rule(pc + 19), 10 << 6 | 19);
	assert_int_equal(table_find_rule(pc + 63), 20 << 6 | 63);
	assert_int_equal(table_find_rule(pc + 64), 0 << 6 | 63);
	assert_int_equal(table_find_rule(pc + 200), 0 << 6 | 63);
}

/* Table and rows anywhere in a segment, the very end included. */
static void test_table__chunk_at_the_end_of_a_segment(void **state)
{
	(void)state;
	rows_clear();
	row(0x40000, rule_number(1));
	row(0x40010, rule_number(2));
	u32 words = CHUNK_HEAD_WORDS + 2, taken = host.build.next + 1 + words;

	build_words(&host.build, SEGMENT_WORDS - taken, 1);
	rows_publish(0x44000);
	u32 chunk = *build_at(&host.build, table.directory);

	assert_int_equal(chunk + words, SEGMENT_WORDS);
	assert_int_equal(table.dictionary, SEGMENT_WORDS);
	expect_rules(0x3ff00, 0x44100);
}

/* ---- damage: AddressSanitizer watches the segments ---- */

static void look_everywhere(u64 *seed)
{
	for (u32 i = 0; i < 60; i++) {
		u64 pc = i & 1 ? rows[build_random(seed) % row_count].pc : build_random(seed);
		u64 range = table_find_rule(pc);

		assert_true(range <= 4095 || range == TABLE_FAILED);
		u64 found = table_find_mapping(pc & (WALK_ADDRESS_END - 1));

		assert_true(found == 0 || found == TABLE_FAILED);
	}
}

static void test_table__damaged_words_stay_bounded(void **state)
{
	u64 seed = 99;

	(void)state;
	for (u32 i = 0; i < 3000; i++) {
		if (!(i % 50))
			random_rows(&seed, 300, 300, 20);
		if (!(i % 50))
			host.walk.block = build_block(&host.build, mappings, 40);
		host.walk.mappings = 40;
		for (u32 k = 0; k < 4; k++) {
			u64 at = 16 + build_random(&seed) % (host.build.next - 16);
			u32 *word = build_at(&host.build, (u32)at);

			*word = build_random(&seed) % 3 ? (u32)build_random(&seed)
							: *word ^ 1u << i % 32;
		}
		look_everywhere(&seed);
	}
}

static void test_table__damaged_mapping_stays_bounded(void **state)
{
	static const u32 words[] = {0, 1, 15, SEGMENT_WORDS - 1, SEGMENT_WORDS, ~0u, 1u << 28};
	u64 seed = 7;

	(void)state;
	for (u32 i = 0; i < 3000; i++) {
		struct walk *walk = &host.walk;

		if (!(i % 100))
			random_rows(&seed, 300, 300, 20);
		u32 random = (u32)build_random(&seed) & (2 * SEGMENT_WORDS - 1);

		walk->pages = ~0u;
		walk->directory = i & 1 ? words[i / 2 % 7] : random;
		walk->dictionary = i & 2 ? words[i / 3 % 7] : random;
		walk->block = i & 4 ? words[i / 5 % 7] : random & ~1u;
		walk->mappings = (u32)(build_random(&seed) % (BLOCK_MAPPINGS_MAX + 1));
		look_everywhere(&seed);
	}
}

static void test_table__missing_segments_fail(void **state)
{
	(void)state;
	rows_clear();
	row(0x40000, rule_number(1));
	rows_publish(0x44000);
	u32 *directory = build_at(&host.build, table.directory);

	host.walk.dictionary = 9u << SEGMENT_WORD_BITS;
	assert_int_equal(table_find_rule(0x40000), TABLE_FAILED);
	host.walk.dictionary = table.dictionary;
	assert_int_equal(table_find_rule(0x40000), 63);
	*directory = 9u << SEGMENT_WORD_BITS;
	assert_int_equal(table_find_rule(0x40000), TABLE_FAILED);
	host.walk.directory = 9u << SEGMENT_WORD_BITS;
	assert_int_equal(table_find_rule(0x40000), TABLE_FAILED);
}

static void test_table__missing_escape_fails(void **state)
{
	(void)state;
	rows_clear();
	for (u32 i = 0; i < 300; i++)
		row(0x40000 + i, rule_number(i));
	rows_publish(0x44000);
	u32 chunk = *build_at(&host.build, table.directory);
	u32 escapes = chunk + CHUNK_HEAD_WORDS + (301 + 1) / 2;

	assert_int_not_equal(table_find_rule(0x40000 + 299), TABLE_FAILED);
	/* "no rule" of the carry-in is entry 0, so the first to escape is that of row 254 */
	*build_at(&host.build, escapes + 299 - 254) = 0;
	assert_int_equal(table_find_rule(0x40000 + 299), TABLE_FAILED);
	((u16 *)build_at(&host.build, chunk))[CHUNK_ESCAPES_AT] = 0;
	assert_int_equal(table_find_rule(0x40000 + 280), TABLE_FAILED);
	assert_int_equal(table_find_rule(0x40000 + 20), 20 << 6 | 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table__finds_mappings),
		cmocka_unit_test(test_table__no_mappings),
		cmocka_unit_test(test_table__kernel_addresses_have_no_mapping),
		cmocka_unit_test(test_table__rules_at_page_and_chunk_boundaries),
		cmocka_unit_test(test_table__carry_in_crosses_chunks),
		cmocka_unit_test(test_table__empty_chunk_has_no_rule),
		cmocka_unit_test(test_table__outside_of_the_table_is_no_rule),
		cmocka_unit_test(test_table__page_with_a_row_per_byte),
		cmocka_unit_test(test_table__chunk_full_of_rows),
		cmocka_unit_test(test_table__chunk_full_of_escapes),
		cmocka_unit_test(test_table__escapes),
		cmocka_unit_test(test_table__random_rows),
		cmocka_unit_test(test_table__range_is_the_largest),
		cmocka_unit_test(test_table__chunk_at_the_end_of_a_segment),
		cmocka_unit_test(test_table__damaged_words_stay_bounded),
		cmocka_unit_test(test_table__damaged_mapping_stays_bounded),
		cmocka_unit_test(test_table__missing_segments_fail),
		cmocka_unit_test(test_table__missing_escape_fails),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "object/unwind/dictionary.h"
#include "object/unwind/unwind_table.h"

#define SP(n) RULE_MAKE(RULE_SP, 0, 0, n, 0)
#define WIDE  RULE_MAKE(RULE_WIDE, 0, 0, 0, 0)

static struct dictionary *dictionary;
static u32 uses[DICTIONARY_RULES_MAX];
static u16 places[DICTIONARY_RULES_MAX];

static int start(void **state)
{
	(void)state;
	dictionary = dictionary_new();
	memset(uses, 0, sizeof(uses));
	return dictionary ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	dictionary_free(dictionary);
	return 0;
}

static u16 add_wide(s32 offset)
{
	struct rule_wide wide = {.cfa_offset = offset};

	return dictionary_add_wide(dictionary, WIDE, &wide);
}

static void test_dictionary__equal_rules_have_equal_numbers(void **state)
{
	u16 numbers[1000];

	(void)state;
	assert_int_equal(dictionary_add(dictionary, RULE_NONE), DICTIONARY_NONE);
	assert_int_equal(dictionary_add(dictionary, RULE_UNSUPPORTED), DICTIONARY_UNSUPPORTED);
	for (s32 i = 0; i < 1000; i++)
		numbers[i] = dictionary_add(dictionary, SP(i));
	for (s32 i = 0; i < 1000; i++) {
		assert_int_equal(dictionary_add(dictionary, SP(i)), numbers[i]);
		assert_true(dictionary_rule(dictionary, numbers[i]) == SP(i));
	}
	assert_int_equal(dictionary_count(dictionary), 1002);
}

static void test_dictionary__wide_rules_are_told_apart_by_content(void **state)
{
	u16 first = add_wide(1), second = add_wide(2);

	(void)state;
	assert_int_not_equal(first, second);
	assert_int_equal(add_wide(1), first);
	assert_int_equal(add_wide(2), second);
	assert_int_equal(dictionary_count(dictionary), 4);
}

static void test_dictionary__a_full_one_says_unsupported(void **state)
{
	u32 number = 0, wide = 0;

	(void)state;
	for (s32 i = 0; i < 40000; i++)
		number += dictionary_add(dictionary, SP(i)) != DICTIONARY_UNSUPPORTED;
	assert_true(number > DICTIONARY_RULES_MAX - 1000 && number < DICTIONARY_RULES_MAX);
	assert_true(dictionary_count(dictionary) <= DICTIONARY_RULES_MAX);
	assert_true(dictionary_rule(dictionary, dictionary_add(dictionary, SP(5))) == SP(5));
	for (s32 i = 0; i < 5000; i++)
		wide += add_wide(i) != DICTIONARY_UNSUPPORTED;
	assert_true(wide <= DICTIONARY_WIDE_MAX);
}

static void test_dictionary__most_used_rules_come_first(void **state)
{
	struct unwind_table table = {0};
	const u64 *entries;

	(void)state;
	for (s32 i = 0; i < 100; i++)
		uses[dictionary_add(dictionary, SP(i))] = 1 + (u32)i * 37 % 100;
	uses[DICTIONARY_NONE] = 1000;
	assert_int_equal(dictionary_layout(dictionary, uses, places, &table), 0);
	entries = table.dictionary;
	assert_int_equal(table.rules, 101);
	assert_int_equal(table.dictionary_count,
			 101); /* without RULE_UNSUPPORTED, which nobody used */
	assert_true(entries[0] == RULE_NONE);
	for (u32 i = 1; i < 100; i++)
		assert_true(uses[dictionary_add(dictionary, entries[i])] >=
			    uses[dictionary_add(dictionary, entries[i + 1])]);
	for (s32 i = 0; i < 100; i++)
		assert_true(entries[places[dictionary_add(dictionary, SP(i))]] == SP(i));
	free(table.dictionary);
}

static void test_dictionary__wide_entries_begin_at_an_even_index(void **state)
{
	u16 first = add_wide(11), second = add_wide(22);
	struct unwind_table table = {0};
	struct rule_wide wide;
	const u64 *entries;

	(void)state;
	uses[first] = 5;
	uses[second] = 6;
	uses[DICTIONARY_NONE] = 7;
	assert_int_equal(dictionary_layout(dictionary, uses, places, &table), 0);
	entries = table.dictionary;
	assert_int_equal(table.rules, 3);
	assert_int_equal(table.dictionary_count, 4 + 2 * 6);
	assert_true(entries[3] == 0);
	assert_int_equal(rule_offset(entries[places[first]]), 4);
	assert_int_equal(rule_offset(entries[places[second]]), 10);
	memcpy(&wide, entries + 4, sizeof(wide));
	assert_int_equal(wide.cfa_offset, 11);
	memcpy(&wide, entries + 10, sizeof(wide));
	assert_int_equal(wide.cfa_offset, 22);
	free(table.dictionary);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_dictionary__##name, start, stop)
	const struct CMUnitTest tests[] = {
		TEST(equal_rules_have_equal_numbers),
		TEST(wide_rules_are_told_apart_by_content),
		TEST(a_full_one_says_unsupported),
		TEST(most_used_rules_come_first),
		TEST(wide_entries_begin_at_an_even_index),
	};

	return cmocka_run_group_tests_name("dictionary", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of interpreted programs: what events tell of them, and the limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/build_code.h"
#include "worker/runtime/cpython.h"
#include "worker/runtime/cpython_layout.h"
#include "worker/runtime/functions.h"
#include "worker/runtime/lua.h"
#include "worker/runtime/luajit.h"
#include "worker/runtime/told.h"

#define CODE 0x7f0000010000ull

static struct functions *functions;
static struct runtime_setup setup_of = {.handler = &cpython_handler};
static struct told told;
/* lines 40 for two bytes, and 41 for six */
static const struct build_code outer = {
	.address = CODE,
	.fingerprint = 7,
	.name = "Outer.run",
	.file = "/srv/a.py",
	.first_line = 40,
	.table = {0x80, 0x12, 0x80 | 11 << 3 | 2, 1, 2},
	.table_size = 5,
};
static const struct function_key key = {.family = 100, .code = CODE, .fingerprint = 7};

static int setup(void **state)
{
	struct event_code event = build_code(5, 100, 100, &outer);

	(void)state;
	if (cpython_layout_find(CPYTHON_VERSION(3, 11), &setup_of.layout.cpython) < 0)
		return -1;
	if (told_read(&setup_of, &build_code_types, &event, &told) < 0)
		return -1;
	functions = functions_new();
	return functions ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	functions_free(functions);
	return 0;
}

static uint32_t line_at(const struct function_key *of, uint32_t instruction)
{
	return FUNCTION_LINE_OF(functions_place(functions, of, instruction, 1));
}

static uint64_t number_of(const struct function_key *of)
{
	return FUNCTION_OF(functions_place(functions, of, 0, 1));
}

static void test_functions__are_told(void **state)
{
	struct functions_counts counts;
	struct function function;

	(void)state;
	functions_tell(functions, &key, &told, 1);
	assert_true(functions_get(functions, number_of(&key), &function));
	assert_string_equal(function.name, "Outer.run");
	assert_string_equal(function.file, "/srv/a.py");
	assert_int_equal(function.first_line, 40);
	assert_int_equal(line_at(&key, 0), 40);
	assert_int_equal(line_at(&key, 2), 41);
	assert_int_equal(line_at(&key, 100), 0);
	/* the frame has not begun */
	assert_int_equal(line_at(&key, RUNTIME_OFFSET_NONE), 40);
	assert_int_equal(line_at(&key, (uint32_t)-2), 40);
	functions_tell(functions, &key, &told, 1);
	functions_counts(functions, &counts);
	assert_int_equal(counts.told, 1);
	assert_int_equal(counts.again, 1);
	assert_int_equal(counts.untold, 0);
	assert_int_equal(functions_count(functions), 1);
}

static void test_functions__are_sampled_before_they_are_told(void **state)
{
	const uint64_t number = number_of(&key);
	struct functions_counts counts;
	struct function function;

	(void)state;
	assert_int_not_equal(number, 0);
	assert_int_equal(line_at(&key, 2), FUNCTION_LINE_UNTOLD);
	assert_false(functions_get(functions, number, &function));
	functions_counts(functions, &counts);
	assert_int_equal(counts.untold, 1);
	functions_tell(functions, &key, &told, 1);
	assert_int_equal(number_of(&key), number);
	assert_int_equal(line_at(&key, 2), 41);
	assert_true(functions_get(functions, number, &function));
	functions_counts(functions, &counts);
	assert_int_equal(counts.untold, 0);
	assert_int_equal(counts.told, 1);
}

/* Families, addresses and fingerprints tell functions apart. */
static void test_functions__keys(void **state)
{
	const struct function_key others[] = {
		{.family = 101, .code = CODE, .fingerprint = 7},
		{.family = 100, .code = CODE + 64, .fingerprint = 7},
		{.family = 100, .code = CODE, .fingerprint = 8},
	};
	struct function function;

	(void)state;
	functions_tell(functions, &key, &told, 1);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(functions_get(functions, number_of(&others[i]), &function));
	assert_int_equal(functions_count(functions), 4);
}

/* Earlier samples keep the name that was right for them. */
static void test_functions__another_name_is_another_function(void **state)
{
	const uint64_t number = (functions_tell(functions, &key, &told, 1), number_of(&key));
	struct function function;

	(void)state;
	memcpy(told.code.name, "renamed", sizeof("renamed"));
	functions_tell(functions, &key, &told, 2);
	assert_int_not_equal(number_of(&key), number);
	assert_true(functions_get(functions, number, &function));
	assert_string_equal(function.name, "Outer.run");
	assert_true(functions_get(functions, number_of(&key), &function));
	assert_string_equal(function.name, "renamed");
}

/* An instruction that is a line needs no event. */
static void test_functions__have_lines_of_their_own(void **state)
{
	(void)state;
	assert_int_equal(FUNCTION_LINE_OF(functions_place_line(functions, &key, 12, 1)), 12);
	functions_tell(functions, &key, &told, 1);
	assert_int_equal(functions_place_line(functions, &key, 12, 1),
			 FUNCTION_PLACE(number_of(&key), 12));
	assert_int_equal(
		FUNCTION_LINE_OF(functions_place_line(functions, &key, RUNTIME_OFFSET_NONE, 1)), 0);
	assert_int_equal(
		FUNCTION_LINE_OF(functions_place_line(functions, &key, FUNCTION_LINE_UNTOLD, 1)),
		0);
}

static void test_functions__are_forgotten(void **state)
{
	struct function_key other = key;
	const uint64_t number = (functions_tell(functions, &key, &told, 1), number_of(&key));
	struct function function;

	(void)state;
	other.code++;
	functions_tell(functions, &other, &told, 1);
	functions_place(functions, &other, 0, 50);
	memcpy(told.code.name, "renamed", sizeof("renamed"));
	functions_tell(functions, &key, &told, 2);
	functions_forget(functions, 50);
	assert_int_equal(functions_count(functions), 1);
	assert_false(functions_get(functions, number, &function));
	assert_true(number_of(&key) > number_of(&other));
	functions_forget(functions, 1000);
	assert_int_equal(functions_count(functions), 0);
}

static void test_functions__of_a_family_are_bounded(void **state)
{
	struct function_key other = key;
	struct functions_counts counts;

	(void)state;
	for (uint32_t i = 0; i < FUNCTIONS_FAMILY_MAX; i++, other.code += 8)
		assert_int_not_equal(number_of(&other), 0);
	assert_int_equal(number_of(&other), 0);
	assert_int_equal(line_at(&other, 0), FUNCTION_LINE_UNTOLD);
	functions_counts(functions, &counts);
	assert_int_equal(counts.refused, 2);
	other.family++;
	assert_int_not_equal(number_of(&other), 0);
	/* room for all: other families take it */
	for (uint32_t i = 1; i < FUNCTIONS_MAX - FUNCTIONS_FAMILY_MAX; i++) {
		other.family = 200 + i;
		assert_int_not_equal(number_of(&other), 0);
	}
	other.family++;
	assert_int_equal(number_of(&other), 0);
	assert_int_equal(functions_count(functions), FUNCTIONS_MAX);
}

static void test_functions__bytes_of_a_family_are_bounded(void **state)
{
	struct function_key other = key;
	struct functions_counts counts;
	struct function function;
	uint32_t i = 0;

	(void)state;
	memset(told.code.name, 'n', sizeof(told.code.name) - 1);
	memset(told.code.file, 'f', sizeof(told.code.file) - 1);
	told.lines.size = sizeof(told.table);
	for (; i * 1920ull < FUNCTIONS_FAMILY_BYTES; i++, other.code += 8)
		functions_tell(functions, &other, &told, 1);
	functions_tell(functions, &other, &told, 1);
	assert_false(functions_get(functions, number_of(&other), &function));
	functions_counts(functions, &counts);
	assert_true(counts.refused > 0);
	assert_true(counts.told * 1900 < FUNCTIONS_FAMILY_BYTES);
	other.family++;
	functions_tell(functions, &other, &told, 1);
	assert_true(functions_get(functions, number_of(&other), &function));
}

/* ---- names that callers have ---- */

#define PACKED 0x41002000ull

/* Tells of a function whose name is the third one at an address of its caller. */
static void tell_called(const struct function_key *of, const unsigned char *names)
{
	told.handler = &luajit_handler;
	told.late = (struct told_late){
		PACKED, (uint64_t)RUNTIME_OF_PACKED_UPVALUES << 56 | 2ull << 32, told_mark(names)};
	told.packed = (struct told_packed){0};
	functions_tell(functions, of, &told, 1);
}

static void tell_caller(const struct function_key *of, const unsigned char *names, size_t size)
{
	told.late = (struct told_late){0};
	told.packed = (struct told_packed){
		.address = {PACKED}, .first = PACKED, .bytes = names, .size = size};
	functions_tell(functions, of, &told, 1);
}

static const char *name_at(const struct function_key *of)
{
	static struct function function;

	assert_true(functions_get(functions, number_of(of), &function));
	return function.name;
}

/* Whichever event comes first, a function gets the name that only its caller's event has. */
static void test_functions__with_names_of_callers(void **state)
{
	struct function_key called = key, caller = key, other = key, stranger = key;
	unsigned char names[TOLD_PACKED_BYTES + 32], changed[sizeof(names)];

	(void)state;
	memset(names, 'n', sizeof(names));
	names[1] = names[TOLD_PACKED_BYTES] = 0;
	memcpy(names + TOLD_PACKED_BYTES + 1, "third", sizeof("third"));
	memcpy(changed, names, sizeof(names));
	changed[0] = 'm';
	caller.code += 8;
	other.code += 16;
	stranger.family++;
	tell_called(&called, names);
	tell_called(&stranger, names);
	assert_string_equal(name_at(&called), "Outer.run");
	tell_caller(&caller, changed, sizeof(changed));
	assert_string_equal(name_at(&called), "Outer.run");
	caller.code += 24;
	tell_caller(&caller, names, sizeof(names));
	assert_string_equal(name_at(&called), "third");
	assert_string_equal(name_at(&called), "third");
	assert_string_equal(name_at(&stranger), "Outer.run");
	tell_called(&other, names);
	assert_string_equal(name_at(&other), "third");
	/* with the caller, its names are forgotten */
	functions_forget(functions, 2);
	assert_int_equal(functions_count(functions), 0);
	tell_called(&other, names);
	assert_string_equal(name_at(&other), "Outer.run");
}

/* ---- events ---- */

static void test_functions__events_with_cut_tables(void **state)
{
	struct build_code code = outer;
	struct event_code event;

	(void)state;
	code.table_size = 100000;
	event = build_code(5, 100, 100, &code);
	assert_int_equal(told_read(&setup_of, &build_code_types, &event, &told), 0);
	assert_true(told.lines.is_cut);
	assert_true(told.lines.size <= sizeof(told.table));
	functions_tell(functions, &key, &told, 1);
	assert_int_equal(line_at(&key, 2), 41);
	/* 3.9 has no end of the last line: behind the cut there is none */
	told.lines.format = CPYTHON_LNOTAB;
	told.code.first_line = told.lines.first_line = 1;
	functions_tell(functions, &key, &told, 1);
	assert_int_equal(line_at(&key, 100000), 0);
}

/* An event may have more of the table than an earlier one. A shorter whole one is another. */
static void test_functions__cut_tables_get_their_end(void **state)
{
	struct told part = told;
	uint64_t number;

	(void)state;
	part.lines.size = 2;
	part.lines.is_cut = true;
	functions_tell(functions, &key, &part, 1);
	number = number_of(&key);
	assert_int_equal(line_at(&key, 0), 40);
	assert_int_equal(line_at(&key, 2), 0);
	functions_tell(functions, &key, &told, 1);
	assert_int_equal(line_at(&key, 2), 41);
	functions_tell(functions, &key, &part, 1);
	assert_int_equal(line_at(&key, 2), 41);
	assert_int_equal(number_of(&key), number);
	part.lines.is_cut = false;
	functions_tell(functions, &key, &part, 1);
	assert_int_not_equal(number_of(&key), number);
}

static void test_functions__events_without_a_part(void **state)
{
	struct event_code event = build_code(5, 100, 100, &outer);

	(void)state;
	event.bytes[3] = CODE_BYTES; /* more than its place has */
	assert_int_equal(told_read(&setup_of, &build_code_types, &event, &told), 0);
	assert_int_equal(told.lines.size, 0);
	functions_tell(functions, &key, &told, 1);
	assert_int_equal(line_at(&key, 2), 0);
	event.bytes[1] = 0;
	assert_int_equal(told_read(&setup_of, &build_code_types, &event, &told), -EFAULT);
	event = build_code(5, 100, 100, &outer);
	event.bytes[0] = ~0ull;
	assert_int_equal(told_read(&setup_of, &build_code_types, &event, &told), -EFAULT);
	event = build_code(5, 100, 100, &outer);
	event.address[2] = ~0ull;
	assert_int_equal(told_read(&setup_of, &build_code_types, &event, &told), -EFAULT);
}

/* A word in place of a type; a line table that is not there has no type either. */
static void test_functions__events_about_other_objects(void **state)
{
	static const size_t parts[] = {0, CODE_PART_1, CODE_PART_2, CODE_PART_3};
	static const uint64_t wrong[] = {0, ~0ull, BUILD_CODE_TYPE + 8, BUILD_CODE_TYPE - 1};
	struct event_code event;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < sizeof(wrong) / sizeof(*wrong); j++) {
			event = build_code(5, 100, 100, &outer);
			memcpy(event.data + parts[i] + setup_of.layout.cpython.object_type,
			       &wrong[j], 8);
			assert_int_equal(told_read(&setup_of, &build_code_types, &event, &told),
					 -EPROTO);
		}
	event.bytes[3] = 0;
	assert_int_equal(told_read(&setup_of, &build_code_types, &event, &told), 0);
	assert_int_equal(told.lines.size, 0);
}

/* An event about no code leaves a key without a name, until another event tells of code there. */
static void test_functions__are_unverified(void **state)
{
	struct function function;
	struct functions_counts counts;
	uint64_t number = number_of(&key);

	(void)state;
	number_of(&key);
	functions_doubt(functions, &key, 1);
	functions_doubt(functions, &key, 1);
	assert_int_equal(number_of(&key), number);
	assert_true(functions_unverified(functions, number));
	assert_false(functions_get(functions, number, &function));
	functions_counts(functions, &counts);
	assert_int_equal(counts.untold, 0);
	assert_int_equal(counts.unverified, 3);
	assert_int_equal(functions_unverified_frames(functions, key.family), 3);
	assert_int_equal(functions_unverified_frames(functions, key.family + 1), 0);
	functions_tell(functions, &key, &told, 1);
	assert_int_equal(number_of(&key), number);
	assert_false(functions_unverified(functions, number));
	functions_counts(functions, &counts);
	assert_int_equal(counts.unverified, 0);
	/* earlier samples keep the name */
	functions_doubt(functions, &key, 1);
	assert_true(functions_get(functions, number, &function));
	assert_int_not_equal(number_of(&key), number);
	assert_true(functions_unverified(functions, number_of(&key)));
	assert_int_equal(functions_unverified_frames(functions, key.family), 2);
}

/* There is no room for a function more: its frames are not counted, but nothing else happens. */
static void test_functions__doubts_are_bounded(void **state)
{
	struct function_key other = key;

	(void)state;
	for (uint32_t i = 0; i < FUNCTIONS_FAMILY_MAX + 2; i++, other.code += 8)
		functions_doubt(functions, &other, 1);
	assert_int_equal(functions_count(functions), FUNCTIONS_FAMILY_MAX);
	functions_forget(functions, 2);
	assert_int_equal(functions_count(functions), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_functions__##name, setup, teardown)

/* The first name that a caller has stays. */
static void test_functions__get_a_callers_name(void **state)
{
	struct functions_counts counts;
	struct function function;
	uint64_t number;

	(void)state;
	told.handler = &lua_handler;
	functions_tell(functions, &key, &told, 1);
	number = number_of(&key);
	snprintf(told.code.name, sizeof(told.code.name), "of_no_caller");
	functions_tell(functions, &key, &told, 2);
	assert_true(functions_get(functions, number, &function));
	assert_string_equal(function.name, "Outer.run");
	snprintf(told.code.name, sizeof(told.code.name), "a_longer_name_that_a_caller_has");
	told.has_callers_name = true;
	functions_tell(functions, &key, &told, 3);
	assert_true(functions_get(functions, number, &function));
	assert_string_equal(function.name, "a_longer_name_that_a_caller_has");
	assert_string_equal(function.file, "/srv/a.py");
	snprintf(told.code.name, sizeof(told.code.name), "another");
	functions_tell(functions, &key, &told, 4);
	assert_true(functions_get(functions, number, &function));
	assert_string_equal(function.name, "a_longer_name_that_a_caller_has");
	assert_int_equal(number_of(&key), number);
	functions_counts(functions, &counts);
	assert_int_equal(counts.told, 1);
	assert_int_equal(counts.again, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(are_told),
		TEST(are_sampled_before_they_are_told),
		TEST(keys),
		TEST(another_name_is_another_function),
		TEST(get_a_callers_name),
		TEST(have_lines_of_their_own),
		TEST(are_forgotten),
		TEST(of_a_family_are_bounded),
		TEST(bytes_of_a_family_are_bounded),
		TEST(with_names_of_callers),
		TEST(events_with_cut_tables),
		TEST(cut_tables_get_their_end),
		TEST(events_without_a_part),
		TEST(events_about_other_objects),
		TEST(are_unverified),
		TEST(doubts_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

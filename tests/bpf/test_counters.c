/* SPDX-License-Identifier: Apache-2.0 */
/* The closed list of what becomes of a sample. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/abi.h"
#include "ipc/messages.h"

static const struct {
	const char *name, *class, *help;
} rows[] = {
#define X(name, class, help) {#name, #class, help},
#include "bpf/counters.def"
#undef X
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void test_counters__names_are_unique(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		for (size_t j = 0; j < i; j++) {
			assert_string_not_equal(rows[i].name, rows[j].name);
			assert_string_not_equal(rows[i].help, rows[j].help);
		}
}

static void test_counters__name_begins_with_its_class(void **state)
{
	static const char *const classes[][2] = {
		{"END", "end_"}, {"GUESS", "guess_"}, {"CUT", "cut_"}, {"LOST", "lost_"}};

	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		int known = 0;

		for (size_t k = 0; k < sizeof(classes) / sizeof(classes[0]); k++)
			known += !strcmp(rows[i].class, classes[k][0]) &&
				 !strncmp(rows[i].name, classes[k][1], strlen(classes[k][1]));
		assert_int_equal(known, 1);
	}
}

static void test_counters__summary_and_record_hold_them(void **state)
{
	(void)state;
	assert_int_equal(ROWS, REASON_COUNT);
	assert_true(REASON_COUNT <= SUMMARY_REASONS);
	assert_true(REASON_COUNT <= 255); /* struct record's u8, and WALK_GOES_ON */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters__names_are_unique),
		cmocka_unit_test(test_counters__name_begins_with_its_class),
		cmocka_unit_test(test_counters__summary_and_record_hold_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/waited.h"
#include "ipc/messages.h"
#include "ipc/time.h"

#define MS(n) ((n)*NS_PER_MS)

static const char *note_of(uint64_t used, uint64_t wall, uint64_t threads)
{
	static char text[WAITED_NOTE_BYTES];
	const struct message_waited waited = {.used = used, .wall = wall, .threads = threads};

	waited_note(text, &waited);
	return text;
}

static bool is_noted(uint64_t used, uint64_t wall)
{
	const struct message_waited waited = {.used = used, .wall = wall};

	return waited_is_noted(&waited);
}

static void test_waited__below_a_share_of_one_cpu(void **state)
{
	(void)state;
	assert_false(is_noted(0, 0)); /* not told */
	assert_true(is_noted(0, MS(1000)));
	assert_true(is_noted(MS(99), MS(1000)));
	assert_false(is_noted(MS(100), MS(1000)));
	assert_false(is_noted(MS(4000), MS(1000)));
	assert_false(is_noted(UINT64_MAX, UINT64_MAX));
	assert_true(is_noted(0, UINT64_MAX));
	assert_true(is_noted(0, MS(500)));
	assert_false(is_noted(0, MS(499)));
}

static void test_waited__text(void **state)
{
	(void)state;
	assert_string_equal(note_of(MS(420), MS(10040), 7),
			    "waited: the recorded processes used 420 ms of CPU time in 10.0 s, "
			    "4 % of one CPU (7 threads): they mostly waited, for an "
			    "event or for a CPU, and time spent waiting is not sampled");
	assert_non_null(strstr(note_of(MS(4200), MS(60000), 0), "4.2 s of CPU time in 60.0 s, "
								"7 % of one CPU: "));
	assert_non_null(strstr(note_of(400000, MS(2000), 1), "used 0.4 ms of CPU time in 2.0 s, "
							     "less than 0.1 % of one CPU (1 "
							     "thread): "));
	assert_non_null(strstr(note_of(99999, MS(2000), 1), "used less than 0.1 ms of CPU time "));
	assert_non_null(strstr(note_of(0, MS(2000), 3), "used no CPU time in 2.0 s (3 threads): "));
	assert_non_null(strstr(note_of(MS(5), MS(999), 2), "5 ms of CPU time in 999 ms, 0.5 % of"));
}

static void test_waited__texts_fit(void **state)
{
	const char *text = note_of(UINT64_MAX - 1, UINT64_MAX, UINT64_MAX);

	(void)state;
	assert_non_null(strstr(text,
			       "(18446744073709551615 threads): they mostly waited, "
			       "for an event or for a CPU, and time spent waiting is not sampled"));
	text = note_of(UINT64_MAX, 1, UINT64_MAX);
	assert_non_null(strstr(text, " is not sampled"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waited__below_a_share_of_one_cpu),
		cmocka_unit_test(test_waited__text),
		cmocka_unit_test(test_waited__texts_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

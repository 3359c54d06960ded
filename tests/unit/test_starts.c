/* SPDX-License-Identifier: Apache-2.0 */
/* So many brokers at once, then so many a minute, for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ipc/time.h"
#include "loader/starts.h"

#define LATER (1000 * NS_PER_SECOND)

static unsigned int take_all(struct starts *starts, enum broker_lane lane, uint64_t now)
{
	unsigned int count = 0;

	while (starts_take(starts, lane, now))
		count++;
	assert_true(starts->is_denied);
	return count;
}

static const struct {
	enum broker_lane lane;
	unsigned int at_once, in_a_minute;
} rows[] = {
	{LANE_ORDINARY, 20, 20},
	{LANE_PENAL, 5, 10},
};

static void test_starts__each_lane(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct starts starts = {0};
		unsigned int count = 0;

		assert_int_equal(take_all(&starts, rows[i].lane, LATER), rows[i].at_once);
		for (uint64_t second = 1; second <= 60; second++)
			count += take_all(&starts, rows[i].lane, LATER + second * NS_PER_SECOND);
		assert_int_equal(count, rows[i].in_a_minute);
		/* what was not used comes back, and no more */
		assert_int_equal(take_all(&starts, rows[i].lane, 3 * LATER), rows[i].at_once);
	}
}

/* Looks that find nothing do not put the next start off. */
static void test_starts__asking_often_changes_nothing(void **state)
{
	struct starts starts = {0};
	uint64_t now = LATER;

	(void)state;
	take_all(&starts, LANE_ORDINARY, now);
	for (; now < LATER + 3 * NS_PER_SECOND; now += NS_PER_MS)
		assert_false(starts_take(&starts, LANE_ORDINARY, now));
	assert_true(starts_take(&starts, LANE_ORDINARY, now));
	assert_false(starts.is_denied);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_starts__each_lane),
		cmocka_unit_test(test_starts__asking_often_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

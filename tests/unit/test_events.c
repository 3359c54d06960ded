/* SPDX-License-Identifier: Apache-2.0 */
/* The loader opens rows of its own table, whatever keyhole-options says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>

#include <cmocka.h>

#include "loader/events.h"

static int opened(uint64_t period, uint32_t event)
{
	static struct events events;
	struct message_sampling sampling = {period, event, 99};

	return events_open(0, &sampling, -1, EVENTS_WAKE_AT_ONCE, &events);
}

/* There is no CPU on which an event could be opened. */
static void test_events__rows(void **state)
{
	(void)state;
	assert_int_equal(opened(0, 0), -ENODEV);
	for (uint32_t event = 1; event <= 13; event++)
		assert_int_equal(opened(1000000000000, event), -ENODEV);
	assert_int_equal(opened(0, 14), -EPROTO);
	assert_int_equal(opened(0, 1u << 31), -EPROTO);
	assert_int_equal(opened(0, UINT32_MAX), -EPROTO);
}

static void test_events__periods_too_short(void **state)
{
	(void)state;
	assert_int_equal(opened(1000000, 1), -ENODEV);
	assert_int_equal(opened(999999, 1), -EPROTO);
	assert_int_equal(opened(100000, 2), -ENODEV);
	assert_int_equal(opened(99999, 2), -EPROTO);
	assert_int_equal(opened(1, 2), -EPROTO);
	assert_int_equal(opened(1, 12), -ENODEV);
}

/* Descriptor 0 is never ours, whichever step failed. */
static void test_events__what_failed_has_no_descriptors(void **state)
{
	struct events events;
	struct message_sampling sampling = {0, 14, 99};

	(void)state;
	memset(&events, 0, sizeof(events));
	assert_int_equal(events_open(2, &sampling, -1, EVENTS_WAKE_AT_ONCE, &events), -EPROTO);
	assert_int_equal(events.cpus, 2);
	for (int cpu = 0; cpu < 2; cpu++) {
		assert_int_equal(events.sample[cpu], -1);
		assert_int_equal(events.sideband[cpu], -1);
	}
}

/* BPF takes no more samples than the frequency, which a policy caps. */
static void test_events__a_clocks_period_is_raised(void **state)
{
	static struct events events;
	struct message_sampling clock = {1000000, 2, 50}, other = {1, 9, 50},
				longer = {70000000, 3, 50};

	(void)state;
	events_open(0, &clock, -1, EVENTS_WAKE_AT_ONCE, &events);
	assert_int_equal(clock.period, 20000000);
	events_open(0, &other, -1, EVENTS_WAKE_AT_ONCE, &events);
	assert_int_equal(other.period, 1);
	events_open(0, &longer, -1, EVENTS_WAKE_AT_ONCE, &events);
	assert_int_equal(longer.period, 70000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events__rows),
		cmocka_unit_test(test_events__periods_too_short),
		cmocka_unit_test(test_events__what_failed_has_no_descriptors),
		cmocka_unit_test(test_events__a_clocks_period_is_raised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

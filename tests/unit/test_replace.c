/* SPDX-License-Identifier: Apache-2.0 */
/* How the deaths of a child decide about the next one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ipc/time.h"
#include "loader/replace.h"

#define MINUTE (60 * NS_PER_SECOND)

/* Times of deaths in minutes, the latest first; 0: none. */
static const struct {
	uint64_t minutes[DEATHS_MAX];
	int what;
	uint64_t pause_ms;
} rows[] = {
	{{1}, REPLACE_START, 50},
	{{100}, REPLACE_START, 50},
	{{100, 90}, REPLACE_START, 50}, /* ten minutes are over */
	{{100, 91}, REPLACE_START, 800},
	{{100, 100}, REPLACE_START, 800},
	{{100, 91, 90}, REPLACE_START, 800},
	{{100, 90, 90}, REPLACE_START, 50},
	{{100, 92, 91}, REPLACE_END, 0},
	{{3, 2, 1}, REPLACE_END, 0},
	{{7, 7, 7}, REPLACE_END, 0},
};

static struct child with_deaths(const uint64_t minutes[DEATHS_MAX])
{
	struct child child = {.losses = 0};

	for (int i = 0; i < DEATHS_MAX; i++)
		child.deaths[i] = minutes[i] * MINUTE;
	return child;
}

static void test_replace__deaths_decide(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct child child = with_deaths(rows[i].minutes);

		for (int role = ROLE_WORKER; role < ROLE_SUPERVISED; role++) {
			const struct replace_plan plan =
				replace_decide(&child, (enum policy_role)role, CHILD_KILLED);

			assert_int_equal(plan.what, rows[i].what);
			assert_int_equal(plan.pause, rows[i].pause_ms * NS_PER_MS);
		}
	}
}

/* A hang is no death, however many deaths there were. */
static void test_replace__a_hang_is_no_death(void **state)
{
	const struct child child = with_deaths((const uint64_t[DEATHS_MAX]){3, 2, 1});

	(void)state;
	assert_int_equal(replace_decide(&child, ROLE_BROKER, CHILD_HANGS).what, REPLACE_START);
}

/* Hangs and deaths count together; only a broker can be missing. */
static void test_replace__twenty_brokers(void **state)
{
	struct child child = {.losses = 20};

	(void)state;
	assert_int_equal(replace_decide(&child, ROLE_BROKER, CHILD_HANGS).what, REPLACE_START);
	assert_int_equal(replace_decide(&child, ROLE_BROKER, CHILD_KILLED).what, REPLACE_START);
	child.losses++;
	assert_int_equal(replace_decide(&child, ROLE_BROKER, CHILD_HANGS).what, REPLACE_WITHOUT);
	assert_int_equal(replace_decide(&child, ROLE_BROKER, CHILD_KILLED).what, REPLACE_WITHOUT);
	assert_int_equal(replace_decide(&child, ROLE_WORKER, CHILD_KILLED).what, REPLACE_START);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replace__deaths_decide),
		cmocka_unit_test(test_replace__a_hang_is_no_death),
		cmocka_unit_test(test_replace__twenty_brokers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

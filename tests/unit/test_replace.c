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
	bool give_up;
	uint64_t pause_ms;
} rows[] = {
	{{1}, false, 50},
	{{100}, false, 50},
	{{100, 90}, false, 50}, /* ten minutes are over */
	{{100, 91}, false, 800},
	{{100, 100}, false, 800},
	{{100, 91, 90}, false, 800},
	{{100, 90, 90}, false, 50},
	{{100, 92, 91}, true, 0},
	{{3, 2, 1}, true, 0},
	{{7, 7, 7}, true, 0},
};

static void test_replace__deaths_decide(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint64_t deaths[DEATHS_MAX];
		struct replace_plan plan;

		for (int k = 0; k < DEATHS_MAX; k++)
			deaths[k] = rows[i].minutes[k] * MINUTE;
		plan = replace_decide(deaths);
		assert_int_equal(plan.give_up, rows[i].give_up);
		assert_int_equal(plan.pause, rows[i].pause_ms * NS_PER_MS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replace__deaths_decide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A broker that takes the place of another one begins with few requests. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ipc/time.h"
#include "loader/broker/limits.h"

#define NOW (1000 * NS_PER_SECOND)

static unsigned int take_all(uint32_t tokens)
{
	static struct limits limits;
	unsigned int count = 0;

	assert_int_equal(limits_init(&limits, tokens, NOW), 0);
	while (limits_request(&limits, NOW) == 0)
		count++;
	assert_int_equal(limits_request(&limits, NOW), -EAGAIN);
	/* all have the same rate */
	assert_int_equal(limits_request(&limits, NOW + NS_PER_SECOND / LIMIT_REQUESTS_RATE), 0);
	return count;
}

static void test_tokens__as_many_as_are_given(void **state)
{
	(void)state;
	assert_int_equal(take_all(0), 0);
	assert_int_equal(take_all(1000), 1000);
	assert_int_equal(take_all(LIMIT_REQUESTS), LIMIT_REQUESTS);
	assert_int_equal(take_all(UINT32_MAX), LIMIT_REQUESTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tokens__as_many_as_are_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

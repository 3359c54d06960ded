/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "ipc/time.h"
#include "loader/broker/limits.h"

#define START (100 * NS_PER_SECOND)

static struct limits limits;

static int setup(void **state)
{
	(void)state;
	return limits_init(&limits, UINT32_MAX, START);
}

static const struct message_object_reply object = {.device = 1, .inode = 2};
static const struct message_object_reply other = {.device = 1, .inode = 3};

/* A question that led to no open file does not count. */
static void test_limits__object_is_opened_once_a_minute(void **state)
{
	(void)state;
	assert_int_equal(limits_may_open(&limits, &object, START), 0);
	assert_int_equal(limits_may_open(&limits, &object, START), 0);
	limits_opened(&limits, &object, START);
	assert_int_equal(limits_may_open(&limits, &object, START + LIMIT_OPEN_AGAIN - 1),
			 -EALREADY);
	assert_int_equal(limits_may_open(&limits, &other, START), 0);
	assert_int_equal(limits_may_open(&limits, &object, START + LIMIT_OPEN_AGAIN), 0);
	assert_int_equal(limits.repeated, 1);
}

static void test_limits__full_table_refuses(void **state)
{
	struct message_object_reply next = object;

	(void)state;
	for (; next.inode < 4 * LIMIT_OBJECTS; next.inode++)
		limits_opened(&limits, &next, START);
	assert_int_equal(limits_may_open(&limits, &next, START), -EALREADY);
	limits_opened(&limits, &next, START);
	assert_int_equal(limits_may_open(&limits, &next, START + LIMIT_OPEN_AGAIN), 0);
}

static void test_limits__requests_have_a_rate(void **state)
{
	int granted = 0;

	(void)state;
	for (int i = 0; i < LIMIT_REQUESTS; i++)
		assert_int_equal(limits_request(&limits, START), 0);
	assert_int_equal(limits_request(&limits, START), -EAGAIN);
	for (int i = 0; i < 2 * LIMIT_REQUESTS_RATE; i++)
		granted += limits_request(&limits, START + NS_PER_SECOND) == 0;
	assert_int_equal(granted, LIMIT_REQUESTS_RATE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(test_limits__##name, setup)
		TEST(object_is_opened_once_a_minute),
		TEST(full_table_refuses),
		TEST(requests_have_a_rate),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

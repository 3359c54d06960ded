/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "loader/broker/charges.h"

static struct charges charges;

static int setup(void **state)
{
	(void)state;
	return charges_init(&charges);
}

static struct charge_group user(uint64_t id)
{
	return (struct charge_group){id, false};
}

static struct charge_group stranger(uint64_t id)
{
	return (struct charge_group){id, true};
}

static int check(struct charge_group group, uint64_t now)
{
	return charges_check(&charges, &group, now);
}

static void spend(struct charge_group group, uint64_t time, uint64_t now)
{
	charges_add(&charges, &group, now - time, now);
}

/* Returns what a group gets that asks again and again, each time for 1 ms. */
static uint64_t spend_all(struct charge_group group, uint64_t from, uint64_t to)
{
	uint64_t sum = 0, now;

	for (now = from; now < to; now += NS_PER_MS) {
		if (check(group, now) < 0)
			continue;
		spend(group, NS_PER_MS, now + NS_PER_MS);
		sum += NS_PER_MS;
	}
	return sum;
}

static void test_charges__a_group_gets_its_share(void **state)
{
	const uint64_t start = 50 * NS_PER_SECOND, seconds = 20;
	uint64_t got = spend_all(user(7), start, start + seconds * NS_PER_SECOND);

	(void)state;
	assert_true(got >= seconds * NS_PER_SECOND / CHARGE_SHARE);
	assert_true(got <= (seconds + 2) * NS_PER_SECOND / CHARGE_SHARE);
}

static void test_charges__others_pay_nothing(void **state)
{
	const uint64_t now = 50 * NS_PER_SECOND;

	(void)state;
	spend(user(7), NS_PER_SECOND / 2, now);
	assert_int_equal(check(user(7), now), -EBUSY);
	assert_int_equal(check(user(8), now), 0);
	assert_int_equal(check(stranger(9), now), 0);
}

static void test_charges__a_group_waits_for_a_while(void **state)
{
	const uint64_t now = 50 * NS_PER_SECOND;
	const uint64_t wait = CHARGE_MOST * CHARGE_SHARE - CHARGE_AHEAD;

	(void)state;
	/* the machine stood still */
	spend(user(7), 40 * NS_PER_SECOND, now);
	assert_int_equal(check(user(7), now + wait - 1), -EBUSY);
	assert_int_equal(check(user(7), now + wait), 0);
}

/* A user with many ids gets no more than the share of all strangers, and takes nothing of users. */
static void test_charges__strangers_share(void **state)
{
	const uint64_t start = 50 * NS_PER_SECOND, end = start + 20 * NS_PER_SECOND;
	uint64_t now, sum = 0, id = 0;

	(void)state;
	for (now = start; now < end; now += NS_PER_MS) {
		if (check(stranger(++id), now) < 0)
			continue;
		spend(stranger(id), NS_PER_MS, now + NS_PER_MS);
		sum += NS_PER_MS;
	}
	assert_true(sum >= (end - start) / CHARGE_SHARE_ALL);
	assert_true(sum <= (end - start) / CHARGE_SHARE_ALL + NS_PER_SECOND);
	assert_int_equal(check(stranger(UINT32_MAX), end), -EBUSY);
	assert_int_equal(check(user(1), end), 0);
}

/* Many groups that used a little do not make the table forget the one that used much. */
static void test_charges__a_full_table_keeps_who_used_most(void **state)
{
	const uint64_t now = 50 * NS_PER_SECOND;

	(void)state;
	spend(user(7), NS_PER_SECOND / 2, now);
	for (uint64_t id = 100; id < 100 + 4 * CHARGE_GROUPS; id++)
		spend(user(id), NS_PER_MS, now);
	assert_int_equal(check(user(7), now), -EBUSY);
	assert_int_equal(check(user(99), now), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(test_charges__##name, setup)
		TEST(a_group_gets_its_share),		TEST(others_pay_nothing),
		TEST(a_group_waits_for_a_while),	TEST(strangers_share),
		TEST(a_full_table_keeps_who_used_most),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "loader/broker/verdicts.h"

#define NOW 1000u

static struct verdicts verdicts;

static int setup(void **state)
{
	(void)state;
	return verdicts_init(&verdicts);
}

static void add(uint64_t mount, uint64_t used, bool privileged)
{
	const struct verdict verdict = {
		.mount = mount,
		.until = VERDICT_ALWAYS,
		.used = used,
		.error = -(int)(mount % 2),
		.privileged = privileged,
	};

	verdicts_add(&verdicts, &verdict);
}

/* Returns whether the verdict is known, and checks that it is the right one. */
static bool knows(uint64_t mount, uint64_t now)
{
	int error = 77;
	bool known = verdicts_find(&verdicts, mount, now, &error);

	if (known)
		assert_int_equal(error, -(int)(mount % 2));
	return known;
}

static uint64_t count_known(uint64_t from, uint64_t count)
{
	uint64_t known = 0;

	for (uint64_t i = 0; i < count; i++)
		known += knows(from + i, NOW);
	return known;
}

static void test_verdicts__are_those_of_the_mount(void **state)
{
	(void)state;
	assert_false(knows(5, NOW));
	add(5, 1, false);
	add(6, 1, true);
	assert_true(knows(5, NOW));
	assert_true(knows(6, NOW));
	assert_false(knows(7, NOW));
}

static void test_verdicts__hold_until_their_time(void **state)
{
	struct verdict verdict = {.mount = 5, .until = NOW, .error = -EACCES};
	int error;

	(void)state;
	verdicts_add(&verdicts, &verdict);
	assert_true(verdicts_find(&verdicts, 5, NOW - 1, &error));
	assert_int_equal(error, -EACCES);
	assert_false(verdicts_find(&verdicts, 5, NOW, &error));
	verdict.error = 0;
	verdict.until = VERDICT_ALWAYS;
	verdicts_add(&verdicts, &verdict);
	assert_true(verdicts_find(&verdicts, 5, NOW, &error));
	assert_int_equal(error, 0);
}

/* A user makes as many mounts as there are ids, and takes no place of a mount of the host. */
static void test_verdicts__strangers_push_out_strangers_alone(void **state)
{
	const uint64_t hosts = VERDICTS_MAX / 8, strangers = 40 * VERDICTS_MAX;

	(void)state;
	for (uint64_t i = 0; i < hosts; i++)
		add(1 + i, 1, true);
	for (uint64_t i = 0; i < strangers; i++)
		add(100000 + i, 2 + i, false);
	assert_int_equal(count_known(1, hosts), hosts);
	assert_true(knows(100000 + strangers - 1, NOW));
	assert_true(count_known(100000, strangers) <= VERDICTS_MAX - hosts);
}

static void test_verdicts__of_the_host_take_the_places_of_strangers(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 4 * VERDICTS_MAX; i++)
		add(100000 + i, NOW, false);
	for (uint64_t i = 0; i < VERDICTS_MAX / 8; i++)
		add(1 + i, 1, true);
	assert_int_equal(count_known(1, VERDICTS_MAX / 8), VERDICTS_MAX / 8);
}

static void test_verdicts__in_use_stay(void **state)
{
	(void)state;
	add(1, 1, true);
	for (uint64_t i = 0; i < 40 * VERDICTS_MAX; i++) {
		add(2 + i, 2 + i, true);
		assert_true(knows(1, 2 + i));
	}
}

/* A stranger who sees a mount of the host as well does not make it one of a stranger. */
static void test_verdicts__of_the_host_stay_so(void **state)
{
	(void)state;
	add(1, 1, true);
	add(1, 1, false);
	for (uint64_t i = 0; i < 40 * VERDICTS_MAX; i++)
		add(2 + i, 2 + i, false);
	assert_true(knows(1, NOW));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(test_verdicts__##name, setup)
		TEST(are_those_of_the_mount),
		TEST(hold_until_their_time),
		TEST(strangers_push_out_strangers_alone),
		TEST(of_the_host_take_the_places_of_strangers),
		TEST(in_use_stay),
		TEST(of_the_host_stay_so),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

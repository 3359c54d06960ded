/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/fake_target.h"
#include "worker/process/budget.h"

#define START  (1000 * NS_PER_SECOND)
#define CGROUP 4242u
#define OTHER  4343u
#define PAID   (100u / BUDGET_PERCENT) /* s for the work of 1 s */

static struct budget *budget;

static int start(void **state)
{
	(void)state;
	budget = budget_new();
	return budget ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	budget_free(budget);
	return 0;
}

static void test_budget__allowance_at_once(void **state)
{
	(void)state;
	assert_true(budget_allows(budget, CGROUP, START));
	budget_charge(budget, CGROUP, BUDGET_AT_ONCE - 1, START);
	assert_true(budget_allows(budget, CGROUP, START));
	assert_int_equal(budget_allows_at(budget, CGROUP, START), START);
	budget_charge(budget, CGROUP, 1, START);
	assert_false(budget_allows(budget, CGROUP, START));
	assert_true(budget_allows(budget, OTHER, START));
}

static void test_budget__debt_is_paid_at_a_tenth(void **state)
{
	uint64_t at;

	(void)state;
	budget_charge(budget, CGROUP, BUDGET_AT_ONCE + 2 * NS_PER_SECOND, START);
	at = budget_allows_at(budget, CGROUP, START);
	assert_int_equal(at, START + 2 * NS_PER_SECOND * PAID + 1);
	assert_false(budget_allows(budget, CGROUP, at - 1));
	assert_true(budget_allows(budget, CGROUP, at));
	/* after a long time there is no more than the allowance */
	at = START + 100000 * NS_PER_SECOND;
	budget_charge(budget, CGROUP, BUDGET_AT_ONCE, at);
	assert_false(budget_allows(budget, CGROUP, at));
}

/* Work whenever it is allowed, in pieces: 3 s and a tenth of the time. */
static void test_budget__long_run(void **state)
{
	const uint64_t piece = 50 * NS_PER_MS, end = START + 100 * NS_PER_SECOND;
	uint64_t now = START, used = 0;

	(void)state;
	while (now < end) {
		budget_charge(budget, CGROUP, piece, now);
		used += piece;
		now = budget_allows_at(budget, CGROUP, now + piece);
	}
	assert_in_range(used, 13 * NS_PER_SECOND - piece, 13 * NS_PER_SECOND + piece);
}

static void test_budget__all_together(void **state)
{
	const uint64_t most = BUDGET_ALL * BUDGET_AT_ONCE;
	uint64_t at;

	(void)state;
	for (uint64_t i = 0; i < 2 * BUDGET_ALL; i++)
		budget_charge(budget, CGROUP + i, BUDGET_AT_ONCE / 2, START);
	/* who has used half of the own rests; who has used little goes on */
	assert_false(budget_allows(budget, CGROUP, START));
	assert_true(budget_allows(budget, OTHER, START));
	budget_charge(budget, OTHER, BUDGET_AT_ONCE / 10 + NS_PER_MS, START);
	assert_false(budget_allows(budget, OTHER, START));
	/* its own part of that is paid in 10 ms, and that of all together in 30 s / 12 s of it */
	at = budget_allows_at(budget, OTHER, START);
	assert_in_range(at, START + 1, START + NS_PER_MS * PAID + 1);
	assert_true(budget_allows(budget, OTHER, at));
	at = budget_allows_at(budget, CGROUP, START);
	assert_in_range(at, START + 1, START + most);
	assert_true(budget_allows(budget, CGROUP, at));
	assert_false(budget_allows(budget, CGROUP, at - 1));
}

static void test_budget__root_has_no_limit(void **state)
{
	(void)state;
	budget_charge(budget, BUDGET_ROOT, 1000 * NS_PER_SECOND, START);
	assert_true(budget_allows(budget, BUDGET_ROOT, START));
	assert_int_equal(budget_allows_at(budget, BUDGET_ROOT, START), START);
	assert_true(budget_allows(budget, CGROUP, START));
}

/* A payer that owes nothing is forgotten; no charge overflows. */
static void test_budget__many_payers(void **state)
{
	(void)state;
	budget_charge(budget, CGROUP, UINT64_MAX, START);
	for (uint64_t i = 0; i < 100000; i++)
		budget_charge(budget, OTHER + i, 1, START + i * NS_PER_SECOND);
	assert_false(budget_allows(budget, CGROUP, START + 100000 * NS_PER_SECOND));
}

static void test_budget__who_pays(void **state)
{
	int fd = fake_file("x", 1);
	uint64_t owner;

	(void)state;
	assert_int_equal(budget_owner(-1), BUDGET_ROOT);
	assert_int_not_equal(budget_owner(9999), BUDGET_ROOT);
	owner = budget_owner(fd);
	if (getuid() == 0) {
		assert_int_equal(fchmod(fd, 0755), 0);
		assert_int_equal(budget_owner(fd), BUDGET_ROOT);
		assert_int_equal(fchmod(fd, 0777), 0); /* anybody may have written it */
		assert_int_not_equal(budget_owner(fd), BUDGET_ROOT);
		assert_int_equal(fchown(fd, 65000, 65000), 0);
		owner = budget_owner(fd);
	}
	assert_int_not_equal(owner, BUDGET_ROOT);
	assert_int_equal(budget_payer(0, owner), owner);
	assert_int_equal(budget_payer(1, owner), owner); /* the root of all cgroups */
	assert_int_equal(budget_payer(CGROUP, owner), CGROUP);
	assert_int_equal(budget_payer(CGROUP, BUDGET_ROOT), CGROUP);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_budget__allowance_at_once, start, stop),
		cmocka_unit_test_setup_teardown(test_budget__debt_is_paid_at_a_tenth, start, stop),
		cmocka_unit_test_setup_teardown(test_budget__long_run, start, stop),
		cmocka_unit_test_setup_teardown(test_budget__all_together, start, stop),
		cmocka_unit_test_setup_teardown(test_budget__root_has_no_limit, start, stop),
		cmocka_unit_test_setup_teardown(test_budget__many_payers, start, stop),
		cmocka_unit_test_setup_teardown(test_budget__who_pays, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

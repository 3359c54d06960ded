/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are penalized for another one that hung a broker, and how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "worker/target/penalty.h"

#define NOW (1000 * NS_PER_SECOND)

static struct target_process process(uint32_t pid, uint64_t cgroup, uint32_t uid, uint32_t session)
{
	return (struct target_process){pid, pid, {cgroup, uid, session, {0}}};
}

/* In cgroup /2/3/CGROUP; as if /2 were all users', and /2/3 one user's. */
static struct target_process delegated(uint64_t cgroup, uint32_t uid)
{
	return (struct target_process){5, 5, {cgroup, uid, uid, {2, 3, (uint32_t)cgroup}}};
}

/* The group of the first process is penalized. */
static const struct {
	struct target_process first, second;
	bool both;
} rows[] = {
	/* a cgroup, whoever's; another cgroup */
	{{5, 5, {7, 1000, 3, {0}}}, {6, 6, {7, 1001, 4, {0}}}, true},
	{{5, 5, {7, 1000, 3, {0}}}, {6, 6, {8, 1000, 3, {0}}}, false},
	/* no cgroup of its own: a session; another one; another user's; a cgroup of its own */
	{{5, 5, {1, 1000, 3, {0}}}, {6, 6, {1, 1000, 3, {0}}}, true},
	{{5, 5, {1, 1000, 3, {0}}}, {6, 6, {1, 1000, 4, {0}}}, false},
	{{5, 5, {1, 1000, 3, {0}}}, {6, 6, {1, 1001, 3, {0}}}, false},
	{{5, 5, {1, 1000, 3, {0}}}, {6, 6, {3, 1000, 3, {0}}}, false},
	/* nothing is known */
	{{5, 5, {0, 0, 0, {0}}}, {6, 6, {0, 0, 0, {0}}}, false},
	{{5, 5, {0, 0, 0, {0}}}, {5, 5, {0, 0, 0, {0}}}, true},
};

static void test_penalty__whose_it_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct penalties penalties = {0};

		assert_false(penalty_holds(&penalties, &rows[i].first, NOW));
		assert_true(penalty_add(&penalties, &rows[i].first, NOW));
		assert_true(penalty_holds(&penalties, &rows[i].first, NOW));
		assert_int_equal(penalty_holds(&penalties, &rows[i].second, NOW), rows[i].both);
	}
}

static void test_penalty__a_minute_without_a_hang(void **state)
{
	const struct target_process one = process(5, 7, 1000, 3);
	struct penalties penalties = {0};

	(void)state;
	assert_true(penalty_add(&penalties, &one, NOW));
	assert_true(penalty_holds(&penalties, &one, NOW + PENALTY_NS - 1));
	assert_false(penalty_holds(&penalties, &one, NOW + PENALTY_NS));
	/* each hang begins the minute anew */
	assert_true(penalty_add(&penalties, &one, NOW + PENALTY_NS));
	assert_false(penalty_add(&penalties, &one, NOW + PENALTY_NS * 3 / 2));
	assert_true(penalty_holds(&penalties, &one, NOW + PENALTY_NS * 9 / 4));
	assert_false(penalty_holds(&penalties, &one, NOW + PENALTY_NS * 5 / 2));
}

/* A user makes sessions and cgroups at will: the third one stands for all. */
static void test_penalty__a_user_with_many_groups(void **state)
{
	const struct target_process others = process(9, 1, 1001, 50);
	struct penalties penalties = {0};

	(void)state;
	for (uint32_t i = 0; i < PENALTY_SPREAD; i++) {
		const struct target_process next = process(5, 1, 1000, 50);
		const struct target_process bad = process(10 + i, 1 + i % 2 * 77, 1000, 10 + i);

		assert_false(penalty_holds(&penalties, &next, NOW));
		penalty_add(&penalties, &bad, NOW);
	}
	for (uint32_t i = 0; i < 1000; i++) {
		const struct target_process next = process(100 + i, 100 + i, 1000, 100 + i);

		assert_true(penalty_holds(&penalties, &next, NOW));
		assert_false(penalty_add(&penalties, &next, NOW));
	}
	assert_false(penalty_holds(&penalties, &others, NOW));
}

/* Every service may be root's. */
static void test_penalty__root_has_no_such_limit(void **state)
{
	const struct target_process next = process(5, 1, 0, 50);
	struct penalties penalties = {0};

	(void)state;
	for (uint32_t i = 0; i < 2 * PENALTY_SPREAD; i++) {
		const struct target_process bad = process(10 + i, 1, 0, 10 + i);

		assert_true(penalty_add(&penalties, &bad, NOW));
	}
	assert_false(penalty_holds(&penalties, &next, NOW));
}

/* A user with subordinate uids and delegated cgroups has a new uid and a new cgroup each time. */
static void test_penalty__a_user_with_many_uids_and_cgroups(void **state)
{
	const struct target_process neighbour = {9, 9, {90, 1001, 3, {2, 4, 90}}};
	struct penalties penalties = {0};

	(void)state;
	for (uint32_t i = 0; i < PENALTY_SPREAD; i++) {
		const struct target_process bad = delegated(10 + i, 70000 + i);

		assert_true(penalty_add(&penalties, &bad, NOW));
	}
	for (uint32_t i = 100; i < 1100; i++) {
		const struct target_process next = delegated(10 + i, 70000 + i);

		assert_true(penalty_holds(&penalties, &next, NOW));
		assert_false(penalty_add(&penalties, &next, NOW));
	}
	assert_false(penalty_holds(&penalties, &neighbour, NOW));
}

/* Three in one cgroup deeper down, then one beside it: then the cgroup around both. */
static void test_penalty__subtrees_grow(void **state)
{
	const struct target_process next = delegated(50, 80000);
	const struct target_process beside = delegated(60, 80001);
	struct penalties penalties = {0};

	(void)state;
	for (uint32_t i = 0; i < PENALTY_SPREAD; i++) {
		struct target_process bad = delegated(40, 70000 + i);

		bad.group.cgroup = 400 + i;
		bad.group.outer[3] = 400 + i;
		penalty_add(&penalties, &bad, NOW);
	}
	assert_false(penalty_holds(&penalties, &next, NOW));
	assert_true(penalty_add(&penalties, &next, NOW));
	assert_true(penalty_holds(&penalties, &beside, NOW));
}

/* The groups of each user are in a cgroup of the user's own, below one of all users. */
static void test_penalty__what_all_users_have_in_common(void **state)
{
	const struct target_process innocent = {9, 9, {90, 2000, 3, {2, 4, 90}}};
	struct penalties penalties = {0};

	(void)state;
	for (uint32_t i = 0; i < PENALTY_SPREAD_TOP; i++) {
		struct target_process bad = delegated(10 + i, 1000 + i);

		assert_false(penalty_holds(&penalties, &innocent, NOW));
		bad.group.outer[1] = 30 + i;
		penalty_add(&penalties, &bad, NOW);
	}
	assert_true(penalty_holds(&penalties, &innocent, NOW));
}

/* Two groups of one user are one user; root is none, and waits for nobody else's groups. */
static void test_penalty__users_of_a_subtree(void **state)
{
	const struct target_process next = delegated(50, 80000), root = delegated(51, 0);
	const struct {
		uint32_t uids[4];
		bool holds;
	} cases[] = {
		{{1000, 1001, 1000, 1001}, false},
		{{1000, 1001, 0, 0}, false},
		{{1000, 1000, 1001, 1002}, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct penalties penalties = {0};

		for (uint32_t j = 0; j < 4; j++) {
			const struct target_process bad = delegated(10 + j, cases[i].uids[j]);

			penalty_add(&penalties, &bad, NOW);
		}
		assert_int_equal(penalty_holds(&penalties, &next, NOW), cases[i].holds);
		assert_false(penalty_holds(&penalties, &root, NOW));
	}
}

/* As many users as began the penalty of a subtree have to prolong it. */
static void test_penalty__one_user_does_not_prolong_a_subtree(void **state)
{
	const struct target_process next = delegated(50, 80000);
	const uint64_t later = NOW + PENALTY_NS / 2;
	struct penalties penalties = {0};

	(void)state;
	for (uint32_t i = 0; i < PENALTY_SPREAD; i++) {
		const struct target_process bad = delegated(10 + i, 70000 + i);

		penalty_add(&penalties, &bad, NOW);
	}
	for (uint32_t i = 1; i < 8; i++) {
		const struct target_process bad = delegated(10, 70000);

		penalty_add(&penalties, &bad, NOW + i * PENALTY_NS / 4);
	}
	assert_true(penalty_holds(&penalties, &next, later));
	assert_false(penalty_holds(&penalties, &next, NOW + 7 * PENALTY_NS / 4));
}

static void test_penalty__the_oldest_makes_room(void **state)
{
	const struct target_process first = process(1, 10, 0, 1), second = process(1, 11, 0, 1);
	struct penalties penalties = {0};

	(void)state;
	for (uint32_t i = 0; i <= PENALTY_GROUPS; i++) {
		const struct target_process bad = process(1, 10 + i, 0, 1);

		assert_true(penalty_add(&penalties, &bad, NOW + i));
	}
	assert_false(penalty_holds(&penalties, &first, NOW));
	assert_true(penalty_holds(&penalties, &second, NOW));
}

/* Charges groups 10 to 19 of one user with 30 ms each. Returns whether that was too much. */
static bool charge_groups(uint32_t uid)
{
	struct penalties penalties = {0};
	bool too_much = false;

	for (uint64_t cgroup = 10; cgroup < 20; cgroup++) {
		const struct target_process one = process(5, cgroup, uid, 3);

		too_much = penalty_charge(&penalties, &one, 30 * NS_PER_MS, NOW);
	}
	return too_much;
}

/* To root every service may belong. */
static void test_penalty__groups_of_one_user_share_an_account(void **state)
{
	(void)state;
	assert_true(charge_groups(1000));
	assert_false(charge_groups(0));
}

/* Answers for new uids and cgroups are late, each on an account of its own. */
static void test_penalty__groups_of_a_subtree_share_an_account(void **state)
{
	const struct target_process neighbour = {9, 9, {90, 1001, 3, {2, 4, 90}}};
	struct penalties penalties = {0};
	bool too_much = false;

	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		const struct target_process one = delegated(10 + i, 70000 + i);

		too_much = penalty_charge(&penalties, &one, 30 * NS_PER_MS, NOW);
	}
	assert_true(too_much);
	assert_false(penalty_charge(&penalties, &neighbour, 30 * NS_PER_MS, NOW));
}

/* On a busy host, the answers for all services of a subtree take a while together. */
static void test_penalty__small_parts_do_not_add_up_in_a_subtree(void **state)
{
	struct penalties penalties = {0};

	(void)state;
	for (uint32_t i = 0; i < 60; i++) {
		const struct target_process one = delegated(10 + i, 70000 + i);

		assert_false(penalty_charge(&penalties, &one, PENALTY_LATE - 1, NOW));
	}
}

static void test_penalty__an_account_is_paid_off(void **state)
{
	const struct target_process one = process(5, 7, 0, 3);
	struct penalties penalties = {0};
	const uint64_t later = NOW + NS_PER_SECOND;

	(void)state;
	assert_false(penalty_charge(&penalties, &one, PENALTY_AHEAD, NOW));
	assert_true(penalty_charge(&penalties, &one, 1, NOW));
	assert_false(penalty_charge(&penalties, &one, NS_PER_SECOND / PENALTY_SHARE - 2, later));
	assert_true(penalty_charge(&penalties, &one, 2, later));
	/* an account is no penalty */
	assert_false(penalty_holds(&penalties, &one, NOW));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_penalty__whose_it_is),
		cmocka_unit_test(test_penalty__a_minute_without_a_hang),
		cmocka_unit_test(test_penalty__a_user_with_many_groups),
		cmocka_unit_test(test_penalty__root_has_no_such_limit),
		cmocka_unit_test(test_penalty__a_user_with_many_uids_and_cgroups),
		cmocka_unit_test(test_penalty__subtrees_grow),
		cmocka_unit_test(test_penalty__what_all_users_have_in_common),
		cmocka_unit_test(test_penalty__users_of_a_subtree),
		cmocka_unit_test(test_penalty__one_user_does_not_prolong_a_subtree),
		cmocka_unit_test(test_penalty__the_oldest_makes_room),
		cmocka_unit_test(test_penalty__groups_of_one_user_share_an_account),
		cmocka_unit_test(test_penalty__groups_of_a_subtree_share_an_account),
		cmocka_unit_test(test_penalty__small_parts_do_not_add_up_in_a_subtree),
		cmocka_unit_test(test_penalty__an_account_is_paid_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

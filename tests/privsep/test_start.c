/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start fails closed. A layer may be left off, or --require may insist on a layer that this
 * machine lacks. In both cases the start names the layer, and the sampler never runs.
 */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/policy_impl.h"
#include "tests/privsep/privsep.h"
#include "tests/privsep/program.h"

#define TRIES 3

static void expect_samples(const struct program_result *result)
{
	if (result->status != 0)
		fail_msg("status %d: %s", result->status, result->text);
	assert_true(result->seen && result->samples > 0 && result->file);
}

static void expect_refused(const struct program_result *result, const char *who, const char *layer)
{
	char line[80];

	snprintf(line, sizeof(line), "%s: not confined: %s; nothing is sampled\n", who, layer);
	if (result->status != 1 || !strstr(result->text, line))
		fail_msg("%s: status %d: %s", layer, result->status, result->text);
	assert_int_equal(result->samples, 0);
	assert_false(result->file);
}

/* The sampler is there for moments. Where a busy machine hid it, nothing was counted. */
static void record_refused(const struct program *program, const char *who, const char *layer)
{
	struct program_result result = {.seen = false};

	for (int i = 0; i < TRIES && !result.seen; i++) {
		program_record(program, &result);
		expect_refused(&result, who, layer);
	}
	assert_true(result.seen);
}

static void test_start__samples_when_all_is_right(void **state)
{
	const struct program program = {.folder = ""};
	struct program_result result;

	(void)state;
	program_record(&program, &result);
	expect_samples(&result);
	assert_null(strstr(result.text, ": without "));
}

static void test_start__each_layer_left_off_stops_it(void **state)
{
	char folder[64];

	(void)state;
	if (POLICY_UNCONFINED)
		skip();
	for (unsigned int layer = 0; layer < LAYER_COUNT; layer++) {
		const struct program program = {.folder = folder};

		snprintf(folder, sizeof(folder), "sabotage/%s", policy_layer_name(layer));
		record_refused(&program, "", policy_layer_name(layer));
	}
}

/* The loader has its layers then, and judges what its children lack. */
static void test_start__each_layer_that_a_child_leaves_off_stops_it(void **state)
{
	static const char *const layers[] = {"limits", "dumpable", "landlock", "seccomp"};
	char folder[64];

	(void)state;
	if (POLICY_UNCONFINED)
		skip();
	for (size_t i = 0; i < sizeof(layers) / sizeof(*layers); i++) {
		const struct program program = {.folder = folder, .whole_loader = true};

		snprintf(folder, sizeof(folder), "sabotage/%s", layers[i]);
		record_refused(&program, "keyhole-worker", layers[i]);
	}
}

static void leave_off_alone(enum policy_role role, const char *layer)
{
	const char *name = policy_role(role)->program;
	char folder[64];
	const struct program program = {.folder = folder, .alone = name};

	snprintf(folder, sizeof(folder), "sabotage/%s", layer);
	record_refused(&program, name, layer);
}

/* One program of four: none is taken for confined because the others are. */
static void test_start__one_child_that_leaves_one_off_stops_it(void **state)
{
	static const enum policy_layer layers[] = {LAYER_limits, LAYER_dumpable, LAYER_landlock,
						   LAYER_seccomp};

	(void)state;
	if (POLICY_UNCONFINED)
		skip();
	for (enum policy_role role = ROLE_WORKER; role < ROLE_SUPERVISED; role++)
		for (size_t i = 0; i < sizeof(layers) / sizeof(*layers); i++)
			if (policy_layers_of(role) >> layers[i] & 1)
				leave_off_alone(role, policy_layer_name(layers[i]));
}

/* ---- a machine that does not have it ------------------------------------------------------- */

struct refusal {
	int call, error;
	unsigned int conditions;
	struct scmp_arg_cmp condition;
};

/* Each with the layers that go with it, as the loader names them. */
static const struct machine {
	const char *name;
	struct refusal refusals[3];
	uint32_t lacking;
} machines[] = {
	{"no Landlock", {{SCMP_SYS(landlock_create_ruleset), ENOSYS, 0, {0}}}, LAYER_BIT(landlock)},
	{"Landlock off at boot",
	 {{SCMP_SYS(landlock_create_ruleset), EOPNOTSUPP, 0, {0}}},
	 LAYER_BIT(landlock)},
	{"user.max_*_namespaces = 0",
	 {{SCMP_SYS(unshare), ENOSPC, 0, {0}},
	  {SCMP_SYS(clone), ENOSPC, 1, {0, SCMP_CMP_MASKED_EQ, CLONE_NEWPID, CLONE_NEWPID}}},
	 LAYER_BIT(namespaces) | LAYER_BIT(pid) | LAYER_BIT(root)},
	{"no cgroup namespaces",
	 {{SCMP_SYS(unshare),
	   EINVAL,
	   1,
	   {0, SCMP_CMP_MASKED_EQ, CLONE_NEWCGROUP, CLONE_NEWCGROUP}}},
	 LAYER_BIT(namespaces)},
	{"mounts forbidden by a security module",
	 {{SCMP_SYS(mount), EACCES, 0, {0}}},
	 LAYER_BIT(root)},
	{"namespaces by CAP_SYS_ADMIN only, user namespaces forbidden",
	 {{SCMP_SYS(clone), EPERM, 1, {0, SCMP_CMP_MASKED_EQ, CLONE_NEWPID, CLONE_NEWPID}}},
	 LAYER_BIT(pid)},
};

static void refuse(void *argument)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	const struct machine *machine = argument;
	int r = filter ? 0 : -ENOMEM;

	for (const struct refusal *refusal = machine->refusals; refusal->error && r == 0; refusal++)
		r = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO((uint32_t)refusal->error),
					   refusal->call, refusal->conditions, &refusal->condition);
	if (r || seccomp_load(filter))
		_exit(125);
	seccomp_release(filter);
}

static void test_start__names_what_the_machine_lacks(void **state)
{
	struct program_result result;
	char line[40];

	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		const struct program program = {.folder = "",
						.set_up = refuse,
						.argument = (void *)(uintptr_t)&machines[i]};

		program_record(&program, &result);
		expect_samples(&result);
		for (unsigned int layer = 0; layer < LAYER_COUNT && !POLICY_UNCONFINED; layer++) {
			bool lacking = machines[i].lacking >> layer & 1;

			snprintf(line, sizeof(line), ": without %s\n", policy_layer_name(layer));
			if (!strstr(result.text, line) != !lacking)
				fail_msg("%s: %s: %s", machines[i].name, line, result.text);
		}
	}
}

static void test_start__requires_what_the_machine_lacks(void **state)
{
	(void)state;
	if (POLICY_UNCONFINED)
		skip();
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		for (unsigned int layer = 0; layer < LAYER_COUNT; layer++) {
			const struct program program = {.folder = "",
							.require = policy_layer_name(layer),
							.set_up = refuse,
							.argument =
								(void *)(uintptr_t)&machines[i]};

			if (!(machines[i].lacking >> layer & 1))
				continue;
			record_refused(&program, "", policy_layer_name(layer));
		}
}

static void test_start__requires_what_the_machine_has(void **state)
{
	const struct program program = {.folder = "", .require = "namespaces,pid,root,landlock"};
	struct program_result result;

	(void)state;
	program_record(&program, &result);
	expect_samples(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start__samples_when_all_is_right),
		cmocka_unit_test(test_start__each_layer_left_off_stops_it),
		cmocka_unit_test(test_start__each_layer_that_a_child_leaves_off_stops_it),
		cmocka_unit_test(test_start__one_child_that_leaves_one_off_stops_it),
		cmocka_unit_test(test_start__names_what_the_machine_lacks),
		cmocka_unit_test(test_start__requires_what_the_machine_lacks),
		cmocka_unit_test(test_start__requires_what_the_machine_has),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

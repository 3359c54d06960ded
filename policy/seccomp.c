/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/policy_impl.h"
#include "policy/sabotage.h"
#include "policy/syscalls.h"

static int add_calls(scmp_filter_ctx filter, const struct group *group)
{
	uint32_t action = SCMP_ACT_ALLOW;
	int r = 0;

	if (group->refused_with)
		action = SCMP_ACT_ERRNO((unsigned int)group->refused_with);
	for (size_t i = 0; i < group->count && r == 0; i++) {
		const struct call *call = &group->calls[i];

		r = seccomp_rule_add_array(filter, action, call->number, call->conditions,
					   call->condition);
	}
	return r;
}

static int add_groups(scmp_filter_ctx filter, enum policy_role role)
{
	const struct group *groups = role_groups[role];
	int r = 0;

	for (size_t i = 0; i < ROLE_GROUPS && groups[i].calls && r == 0; i++)
		r = add_calls(filter, &groups[i]);
	return r;
}

static bool group_calls(const struct group *group, int number)
{
	for (size_t i = 0; i < group->count; i++)
		if (group->calls[i].number == number)
			return true;
	return false;
}

static bool role_calls(enum policy_role role, int number)
{
	const struct group *groups = role_groups[role];

	for (size_t i = 0; i < ROLE_GROUPS && groups[i].calls; i++)
		if (group_calls(&groups[i], number))
			return true;
	return false;
}

/*
 * Says whether a probe is for the role. A row with a condition is the forbidden form of an allowed
 * call.
 */
static bool probe_applies(enum policy_role role, const struct probe *probe)
{
	return role_calls(role, probe->number) == (probe->condition != 0);
}

static int add_probes(scmp_filter_ctx filter, enum policy_role role)
{
	int r = 0;

	for (size_t i = 0; i < PROBES && r == 0; i++) {
		const struct probe *probe = &probes[i];
		struct scmp_arg_cmp conditions[] = {
			{5, SCMP_CMP_EQ, PROBE_MARK, 0},
			{probe->condition, SCMP_CMP_MASKED_EQ, probe->mask, probe->mask},
		};

		const unsigned int count = 1u + (probe->condition != 0);

		if (probe_applies(role, probe))
			r = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(PROBE_ERRNO),
						   probe->number, count, conditions);
	}
	return r;
}

/* A role that nobody supervises proves its filter to nobody: its marked calls die like others. */
static int build_role(scmp_filter_ctx filter, enum policy_role role)
{
	int r = add_groups(filter, role);

	if (r == 0 && (unsigned int)role < ROLE_SUPERVISED)
		r = add_probes(filter, role);
	return r;
}

/*
 * Two filters are stacked on a supervised role: the spawner's, which the child inherits, and above
 * it the role's own. The kernel runs both on each call and takes the stricter action: death goes
 * before an errno, and an errno before permission. When both filters return an errno, the kernel
 * takes the errno of the youngest filter, which is the role's own. So a call with PROBE_MARK gets
 * PROBE_ERRNO exactly when the role's own filter is there.
 */

/*
 * Gives a marked call the errno SPAWNER_ERRNO: death here would keep the role's filter from
 * answering its self-test.
 */
static int refuse_in_spawner(scmp_filter_ctx filter, const struct call *call)
{
	const struct scmp_arg_cmp marked = {5, SCMP_CMP_EQ, PROBE_MARK, 0};
	const struct scmp_arg_cmp unmarked = {5, SCMP_CMP_NE, PROBE_MARK, 0};
	int r;

	if (call->conditions)
		return seccomp_rule_add_array(filter, SCMP_ACT_KILL_PROCESS, call->number, 1,
					      call->condition);
	r = seccomp_rule_add_array(filter, SCMP_ACT_KILL_PROCESS, call->number, 1, &unmarked);
	if (r < 0)
		return r;
	return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(SPAWNER_ERRNO), call->number, 1,
				      &marked);
}

/* Leaves out the rows of calls_never that the role's own filter has. */
static int build_spawner(scmp_filter_ctx filter, enum policy_role role)
{
	int r = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0, NULL);

	for (size_t i = 0; i < sizeof(calls_never) / sizeof(*calls_never) && r == 0; i++)
		if (!role_calls(role, calls_never[i].number))
			r = refuse_in_spawner(filter, &calls_never[i]);
	return r;
}

static int build(scmp_filter_ctx filter, enum policy_role role, bool spawner)
{
	static const struct {
		enum scmp_filter_attr attribute;
		uint32_t value;
	} attributes[] = {
		{SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS},
		{SCMP_FLTATR_CTL_TSYNC, 1},
		{SCMP_FLTATR_CTL_OPTIMIZE, 2}, /* a binary tree over the numbers of calls */
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes) && r == 0; i++)
		r = seccomp_attr_set(filter, attributes[i].attribute, attributes[i].value);
	if (r < 0)
		return r;
	if (spawner)
		return build_spawner(filter, role);
	return build_role(filter, role);
}

/* Decides alone which process has a filter. Nothing starts a spawner of ROLE_LOADER. */
static bool has_filter(enum policy_role role, bool spawner)
{
	if (spawner)
		return (unsigned int)role < ROLE_SUPERVISED;
	return policy_layers_of(role) & LAYER_BIT(seccomp);
}

int policy_filter(enum policy_role role, bool spawner, int fd)
{
	scmp_filter_ctx filter;
	int r;

	if (!has_filter(role, spawner))
		return -EINVAL;
	filter = seccomp_init(spawner ? SCMP_ACT_ALLOW : SCMP_ACT_KILL_PROCESS);
	if (!filter)
		return -ENOMEM;
	r = build(filter, role, spawner);
	if (r == 0 && fd < 0)
		r = seccomp_load(filter);
	else if (r == 0)
		r = seccomp_export_bpf(filter, fd);
	seccomp_release(filter);
	return r;
}

int policy_confine_spawner(enum policy_role role)
{
	if (POLICY_UNCONFINED || !POLICY_PUTS_ON(seccomp))
		return 0;
	return policy_filter(role, true, -1);
}

static bool refused(const struct probe *probe)
{
	const unsigned long *a = probe->argument;

	return syscall(probe->number, a[0], a[1], a[2], a[3], a[4], PROBE_MARK) == -1 &&
	       errno == PROBE_ERRNO;
}

unsigned int policy_selftest(enum policy_role role)
{
	unsigned int succeeded = 0;

	for (size_t i = 0; i < PROBES && !POLICY_UNCONFINED; i++)
		succeeded += probe_applies(role, &probes[i]) && !refused(&probes[i]);
	return succeeded;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/policy_impl.h"
#include "policy/syscalls.h"

static int add_groups(scmp_filter_ctx filter, enum policy_role role)
{
	int r = 0;

	for (const struct group *group = role_groups[role]; group->calls; group++) {
		for (size_t i = 0; i < group->count && r == 0; i++) {
			const struct call *call = &group->calls[i];

			r = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call->number,
						   call->conditions, call->condition);
		}
	}
	return r;
}

static bool role_calls(enum policy_role role, int number)
{
	for (const struct group *group = role_groups[role]; group->calls; group++)
		for (size_t i = 0; i < group->count; i++)
			if (group->calls[i].number == number)
				return true;
	return false;
}

/* A row with a condition is the forbidden form of a call that may be made otherwise. */
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

		if (probe_applies(role, probe))
			r = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(PROBE_ERRNO),
						   probe->number, probe->condition ? 2 : 1,
						   conditions);
	}
	return r;
}

static int build_role(scmp_filter_ctx filter, enum policy_role role)
{
	int r = add_groups(filter, role);

	return r ? r : add_probes(filter, role);
}

/*
 * Of the rows of calls_never, those of the role's own filter are left out. The mark gets an errno
 * here too, another one: death here would keep the role's filter from answering its self-test.
 */
static int build_spawner(scmp_filter_ctx filter, enum policy_role role)
{
	const struct scmp_arg_cmp marked = {5, SCMP_CMP_EQ, PROBE_MARK, 0};
	const struct scmp_arg_cmp unmarked = {5, SCMP_CMP_NE, PROBE_MARK, 0};
	int r = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0, NULL);

	for (size_t i = 0; i < sizeof(calls_never) / sizeof(*calls_never) && r == 0; i++) {
		const struct call *call = &calls_never[i];

		if (role_calls(role, call->number))
			continue;
		r = seccomp_rule_add_array(filter, SCMP_ACT_KILL_PROCESS, call->number, 1,
					   call->conditions ? call->condition : &unmarked);
		if (r == 0 && !call->conditions)
			r = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(SPAWNER_ERRNO),
						   call->number, 1, &marked);
	}
	return r;
}

static int build(scmp_filter_ctx filter, enum policy_role role, bool spawner)
{
	int r;

	if ((r = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS)) ||
	    (r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1)) ||
	    (r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2)))
		return r;
	return spawner ? build_spawner(filter, role) : build_role(filter, role);
}

int policy_filter(enum policy_role role, bool spawner, int fd)
{
	scmp_filter_ctx filter;
	int r;

	if ((unsigned int)role >= ROLE_SUPERVISED)
		return -EINVAL;
	filter = seccomp_init(spawner ? SCMP_ACT_ALLOW : SCMP_ACT_KILL_PROCESS);
	if (!filter)
		return -ENOMEM;
	r = build(filter, role, spawner);
	if (r == 0)
		r = fd < 0 ? seccomp_load(filter) : seccomp_export_bpf(filter, fd);
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

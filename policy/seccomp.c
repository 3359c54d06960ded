/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy_impl.h"
#include "policy/syscalls.h"

/* Debug builds alone can let a forbidden call pass, to find in the kernel's log what is missing. */
static uint32_t default_action(void)
{
#ifdef KEYHOLE_DEBUG
	const char *value = getenv("KEYHOLE_SECCOMP_LOG");

	if (value && strcmp(value, "1") == 0) {
		fputs("keyhole: KEYHOLE_SECCOMP_LOG: forbidden system calls only logged\n", stderr);
		return SCMP_ACT_LOG;
	}
#endif
	return SCMP_ACT_KILL_PROCESS;
}

static int add_call(scmp_filter_ctx filter, const struct call *call)
{
	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call->number, call->conditions,
				      call->condition);
}

static int add_groups(scmp_filter_ctx filter, enum policy_role role)
{
	int r;

	for (const struct group *group = role_groups[role]; group->calls; group++) {
		for (size_t i = 0; i < group->count; i++) {
			r = add_call(filter, &group->calls[i]);
			if (r)
				return r;
		}
	}
	return 0;
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

		if (policy_probe_applies(role, i))
			r = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(PROBE_ERRNO),
						   probe->number, probe->condition ? 2 : 1,
						   conditions);
	}
	return r;
}

static int build(scmp_filter_ctx filter, enum policy_role role)
{
	int r;

	if ((r = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS)) ||
	    (r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1)) ||
	    (r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2)) ||
	    (r = add_groups(filter, role)))
		return r;
	return add_probes(filter, role);
}

static int with_filter(enum policy_role role, int (*use)(scmp_filter_ctx filter, int fd), int fd)
{
	scmp_filter_ctx filter;
	int r;

	if ((unsigned int)role >= ROLE_COUNT)
		return -EINVAL;
	filter = seccomp_init(default_action());
	if (!filter)
		return -ENOMEM;
	r = build(filter, role);
	if (r == 0)
		r = use(filter, fd);
	seccomp_release(filter);
	return r;
}

static int load(scmp_filter_ctx filter, int fd)
{
	(void)fd;
	return seccomp_load(filter);
}

static int export(scmp_filter_ctx filter, int fd)
{
	return seccomp_export_bpf(filter, fd);
}

int policy_filter(enum policy_role role)
{
	return with_filter(role, load, -1);
}

int policy_export_filter(enum policy_role role, int fd)
{
	return with_filter(role, export, fd);
}

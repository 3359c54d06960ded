/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verdict about a task. A deny rule holds for a task by its ids, its cgroup, its name or its
 * executable, as the kernel has them. In doubt a task is denied. The command line excludes a task
 * by its process or its cgroup.
 *
 * The includer supplies what its kernels offer (kernel_*.bpf.h).
 */
#ifndef KEYHOLE_BPF_DENY_BPF_H
#define KEYHOLE_BPF_DENY_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "bpf/base.bpf.h"
#include "bpf/config.bpf.h"
#include "bpf/kernel.h"
#include "bpf/shared_maps.bpf.h"

#define DENY_CGROUP_DEPTH 16 /* below the root; deeper cgroups are denied */
#define DENY_COMM_MAX	  15

/* Returns the number of the rule, or 0. */
GLOBAL u32 rule_number(u64 kind, u64 first, u64 second)
{
	struct deny_key key = {kind, first, second};
	u32 *number = bpf_map_lookup_elem(&deny_rules, &key);

	return number ? *number : 0;
}

INLINE u32 denies_ids(struct task_struct *task)
{
	const struct cred *cred = BPF_CORE_READ(task, real_cred);
	u32 rule = rule_number(DENY_UID, BPF_CORE_READ(cred, uid.val), 0);

	if (rule)
		return rule;
	return rule_number(DENY_UID, BPF_CORE_READ(cred, euid.val), 0);
}

/* Returns two verdicts on a process as one, with the rule of the first. */
INLINE u32 join_denials(u32 first, u32 second)
{
	if (first & DENIED_RULE)
		second &= ~DENIED_RULE;
	return first | second;
}

/* After the exit another process may get the id, so the table of rules has no process ids. */
INLINE u32 excludes_process(u32 pid)
{
	u32 *role = NULL;

	if (deny_kinds & DENY_BIT(DENY_PROCESS))
		role = bpf_map_lookup_elem(&targets, &pid);
	return role && *role == TARGET_EXCLUDED ? DENIED_BY_PROCESS : 0;
}

/* Has no branch: each branch would double the verifier's states. */
INLINE u64 is_nonzero(u64 x)
{
	return (x | -x) >> 63;
}

INLINE int excludes_cgroup(u64 id)
{
	u64 other = 1;

	if (!sample_filter.excluded_cgroup[0])
		return 0;
#pragma unroll
	for (u32 i = 0; i < FILTER_PLACES; i++)
		other &= is_nonzero(sample_filter.excluded_cgroup[i] ^ id);
	return !other;
}

/* No cgroup has an address below this one: a number up to here is a verdict. */
#define CGROUP_EXCLUDED (DENIED_RULE + 1)

/*
 * Returns the cgroup above, a verdict (the number of a rule of a kind, CGROUP_EXCLUDED), or 0 at
 * the root.
 */
GLOBAL u64 cgroup_above(u64 number, u64 kind)
{
	struct cgroup *cgroup = (void *)number;
	struct cgroup_subsys_state *above = BPF_CORE_READ(cgroup, self.parent);
	u64 id = BPF_CORE_READ(cgroup, kn, id);
	u32 rule = rule_number(kind, id, 0);

	if (rule)
		return rule;
	if (kind == DENY_CGROUP && excludes_cgroup(id))
		return CGROUP_EXCLUDED;
	return above ? (u64)above - bpf_core_field_offset(struct cgroup, self) : 0;
}

INLINE u32 denies_cgroup(struct task_struct *task, const u64 kind)
{
	u64 cgroup = (u64)BPF_CORE_READ(task, cgroups, dfl_cgrp);

	for (u32 i = 0; i < DENY_CGROUP_DEPTH && cgroup > CGROUP_EXCLUDED; i++)
		cgroup = cgroup_above(cgroup, kind);
	if (cgroup <= DENIED_RULE)
		return cgroup;
	return DENIED_OTHERWISE;
}

/* Each prefix is a key of its own: there are 15 look-ups for any number of rules. */
GLOBAL u32 denies_comm(u64 first, u64 second)
{
	u32 rule = 0;

	NOT_UNROLLED
	for (u32 i = 1; i <= 8 && !rule; i++)
		rule = rule_number(DENY_COMM, first & ~0ull >> (64 - 8 * i), 0);
	NOT_UNROLLED
	for (u32 i = 1; i <= DENY_COMM_MAX - 8 && !rule; i++)
		rule = rule_number(DENY_COMM, first, second & ~0ull >> (64 - 8 * i));
	return rule;
}

/* A process that has given up its memory no longer runs the file. */
INLINE u32 denies_executable(struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct inode *inode;

	if (!mm)
		return 0;
	inode = BPF_CORE_READ(mm, exe_file, f_inode);
	return rule_number(DENY_EXECUTABLE, BPF_CORE_READ(inode, i_sb, s_dev),
			   BPF_CORE_READ(inode, i_ino));
}

/*
 * Returns a verdict or 0, by those of the kinds that have rules. first, second: bytes of the task's
 * name, because the hook sees a new name before the task has it. number: the task as a scalar, so
 * that the verifier checks this global function once.
 */
GLOBAL u32 denies_task(u64 number, u64 first, u64 second, u32 kinds)
{
	struct task_struct *task = (void *)number;
	u32 rule = 0;

	kinds &= deny_kinds;
	if (kinds & DENY_BIT(DENY_PROCESS) && excludes_process(BPF_CORE_READ(task, tgid)))
		return DENIED_BY_PROCESS;
	if (kinds & DENY_BIT(DENY_UID))
		rule = denies_ids(task);
	if (!rule && kinds & DENY_BIT(DENY_COMM))
		rule = denies_comm(first, second);
	if (!rule && kinds & DENY_BIT(DENY_EXECUTABLE))
		rule = denies_executable(task);
	if (!rule && kinds & DENY_BIT(DENY_CGROUP))
		rule = denies_cgroup(task, DENY_CGROUP);
	return rule;
}

/* Returns whether a rule keeps lists of the current task from being read. */
GLOBAL u32 denies_memory(void)
{
	if (!(deny_kinds & DENY_BIT(DENY_MEMORY_CGROUP)))
		return 0;
	return denies_cgroup((void *)bpf_get_current_task(), DENY_MEMORY_CGROUP);
}

/* Returns an address as a scalar: a global function takes no such pointer. */
INLINE u64 number_of(const void *address)
{
	u64 number = 0;

	bpf_probe_read_kernel(&number, sizeof(number), &address);
	return number;
}

/* Returns a verdict or 0, by all rules and the present state of a task (a scalar, as above). */
GLOBAL u32 denies_number(u64 number)
{
	struct task_struct *task = (void *)number;
	u64 comm[2] = {0, 0};

	bpf_probe_read_kernel(comm, sizeof(comm), &task->comm);
	return denies_task(number, comm[0], comm[1], ~0u);
}

INLINE u32 denies_now(struct task_struct *task)
{
	return deny_kinds ? denies_number(number_of(task)) : 0;
}

/* Returns whether a process has no entry because it was denied and has exited. */
INLINE int is_denied_exit(struct task_struct *task, u32 pid)
{
	u64 *who = bpf_map_lookup_elem(&denied_exits, &pid);

	return who && *who == task_signal(task);
}

#endif

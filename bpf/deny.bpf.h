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

#include "bpf/config.bpf.h"
#include "bpf/env.bpf.h"
#include "bpf/kernel.h"

#define DENY_CGROUP_DEPTH 16 /* below the root; deeper cgroups are denied */
#define DENY_COMM_MAX	  15

GLOBAL int has_rule(u64 kind, u64 first, u64 second)
{
	struct deny_key key = {kind, first, second};

	return bpf_map_lookup_elem(&deny_rules, &key) != NULL;
}

INLINE int denies_ids(struct task_struct *task)
{
	const struct cred *cred = BPF_CORE_READ(task, real_cred);

	return has_rule(DENY_UID, BPF_CORE_READ(cred, uid.val), 0) ||
	       has_rule(DENY_UID, BPF_CORE_READ(cred, euid.val), 0);
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

#define CGROUP_DENIED 1 /* no cgroup has this address */

/* Returns the cgroup above, CGROUP_DENIED, or 0 at the root. */
GLOBAL u64 cgroup_above(u64 number)
{
	struct cgroup *cgroup = (void *)number;
	struct cgroup_subsys_state *above = BPF_CORE_READ(cgroup, self.parent);
	u64 id = BPF_CORE_READ(cgroup, kn, id);

	if (excludes_cgroup(id) || has_rule(DENY_CGROUP, id, 0))
		return CGROUP_DENIED;
	return above ? (u64)above - bpf_core_field_offset(struct cgroup, self) : 0;
}

INLINE int denies_cgroup(struct task_struct *task)
{
	u64 cgroup = (u64)BPF_CORE_READ(task, cgroups, dfl_cgrp);

	for (u32 i = 0; i < DENY_CGROUP_DEPTH && cgroup > CGROUP_DENIED; i++)
		cgroup = cgroup_above(cgroup);
	return cgroup != 0;
}

/* Each prefix is a key of its own: there are 15 look-ups for any number of rules. */
INLINE int denies_comm(u64 first, u64 second)
{
	for (u32 i = 1; i <= 8; i++)
		if (has_rule(DENY_COMM, first & ~0ull >> (64 - 8 * i), 0))
			return 1;
	for (u32 i = 1; i <= DENY_COMM_MAX - 8; i++)
		if (has_rule(DENY_COMM, first, second & ~0ull >> (64 - 8 * i)))
			return 1;
	return 0;
}

/* A process that has given up its memory no longer runs the file. */
INLINE int denies_executable(struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct inode *inode;

	if (!mm)
		return 0;
	inode = BPF_CORE_READ(mm, exe_file, f_inode);
	return has_rule(DENY_EXECUTABLE, BPF_CORE_READ(inode, i_sb, s_dev),
			BPF_CORE_READ(inode, i_ino));
}

/*
 * Returns DENIED_* or 0, by those of the kinds that have rules. first, second: bytes of the task's
 * name, because the hook sees a new name before the task has it. number: the task as a scalar, so
 * that the verifier checks this global function once.
 */
GLOBAL int denies_task(u64 number, u64 first, u64 second, u32 kinds)
{
	struct task_struct *task = (void *)number;

	kinds &= deny_kinds;
	if (kinds & DENY_BIT(DENY_PROCESS) && excludes_process(BPF_CORE_READ(task, tgid)))
		return DENIED_BY_PROCESS;
	if (kinds & DENY_BIT(DENY_UID) && denies_ids(task))
		return DENIED_BY_RULE;
	if (kinds & DENY_BIT(DENY_COMM) && denies_comm(first, second))
		return DENIED_BY_RULE;
	if (kinds & DENY_BIT(DENY_EXECUTABLE) && denies_executable(task))
		return DENIED_BY_RULE;
	return kinds & DENY_BIT(DENY_CGROUP) && denies_cgroup(task) ? DENIED_BY_RULE : 0;
}

/* Returns an address as a scalar: a global function takes no such pointer. */
INLINE u64 number_of(const void *address)
{
	u64 number = 0;

	bpf_probe_read_kernel(&number, sizeof(number), &address);
	return number;
}

/* Returns DENIED_* or 0, by all rules and the task's present state. */
INLINE u32 denies_now(struct task_struct *task)
{
	u64 comm[2] = {0, 0};

	if (!deny_kinds)
		return 0;
	bpf_probe_read_kernel(comm, sizeof(comm), &task->comm);
	return denies_task(number_of(task), comm[0], comm[1], ~0u);
}

/* Returns whether a process has no entry because it was denied and has exited. */
INLINE int is_denied_exit(struct task_struct *task, u32 pid)
{
	u64 *who = bpf_map_lookup_elem(&denied_exits, &pid);

	return who && *who == task_signal(task);
}

#endif

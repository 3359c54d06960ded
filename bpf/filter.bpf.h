/* SPDX-License-Identifier: GPL-2.0-only */
/* The filter: which processes the command line names. */
#ifndef KEYHOLE_BPF_FILTER_BPF_H
#define KEYHOLE_BPF_FILTER_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "bpf/base.bpf.h"
#include "bpf/config.bpf.h"
#include "bpf/deny.bpf.h"
#include "bpf/shared_maps.bpf.h"

INLINE int is_target(u32 pid)
{
	u32 *role = bpf_map_lookup_elem(&targets, &pid);

	return role && *role == TARGET_SAMPLED;
}

/* Returns whether the cgroup filter wants the current task; needs no process table. */
INLINE int wanted_now(void)
{
	return filter_mode != FILTER_CGROUP ||
	       bpf_current_task_under_cgroup(&cgroup_filter, 0) == 1;
}

/* Compares effective ids, as ps -u and top -u do. */
INLINE int is_of_wanted_user(struct task_struct *task)
{
	u64 uid = BPF_CORE_READ(task, real_cred, euid.val), other = 1;

#pragma unroll
	for (u32 i = 0; i < FILTER_PLACES; i++)
		other &= is_nonzero(sample_filter.uid[i] ^ uid);
	return !other;
}

#endif

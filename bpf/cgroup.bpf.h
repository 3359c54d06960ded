/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tells the worker the path of a cgroup with the first sample of a process there. The names are
 * those of the kernel's nodes, from the cgroup up to the root. The task holds its cgroup, and a
 * cgroup those above. Each read may fail, which costs the path alone.
 *
 * The includer supplies what its kernels offer (kernel_*.bpf.h).
 */
#ifndef KEYHOLE_BPF_CGROUP_BPF_H
#define KEYHOLE_BPF_CGROUP_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "bpf/base.bpf.h"
#include "bpf/config.bpf.h"
#include "bpf/events.bpf.h"
#include "bpf/kernel.h"
#include "bpf/shared_maps.bpf.h"

#define TOLD_FACTOR 0x9e3779b97f4a7c15ull
#define EPOCH_SHIFT 48 /* beyond the ids that a kernel reaches */

/* Makes the mark of a cgroup that this worker was told of, never 0 for an id of the kernel. */
INLINE u64 told_mark(u64 id)
{
	return id ^ (u64)(worker_epoch + 1) << EPOCH_SHIFT;
}

/* Returns the node above, or NULL at the root. */
INLINE struct kernfs_node *node_above(struct kernfs_node *node)
{
	if (bpf_core_field_exists(node->__parent))
		return BPF_CORE_READ(node, __parent);
	return BPF_CORE_READ(node, parent);
}

INLINE struct kernfs_node *cgroup_node(struct task_struct *task)
{
	struct cgroup *cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp);

	return BPF_CORE_READ(cgroup, kn);
}

/* Returns the id of the cgroup around it on a level, or its own. */
INLINE u64 id_on_level(struct cgroup *cgroup, u32 level)
{
	u64 outer = 0;

	if (bpf_core_field_exists(cgroup->ancestors)) {
		bpf_probe_read_kernel(&outer, sizeof(outer),
				      (char *)cgroup + level * sizeof(outer) +
					      bpf_core_field_offset(struct cgroup, ancestors));
		return BPF_CORE_READ((struct cgroup *)outer, kn, id);
	}
	bpf_probe_read_kernel(&outer, sizeof(outer),
			      (char *)cgroup + level * sizeof(outer) +
				      bpf_core_field_offset(struct cgroup, ancestor_ids));
	return outer;
}

/* Notes where a task is, in an event that is all 0 otherwise. */
static __attribute__((noinline)) void note_cgroups(struct event *event, struct task_struct *task)
{
	struct cgroup *cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	u32 levels = BPF_CORE_READ(cgroup, level);

	event->cgroup = BPF_CORE_READ(cgroup, kn, id);
	NOT_UNROLLED
	for (u32 i = 0; i < CGROUP_OUTER && i < levels; i++)
		event->outer[i] = id_on_level(cgroup, i + 1);
}

/* Notes the cgroups around the current task, in an event that is all 0 there. */
INLINE void note_outer_now(struct event *event)
{
	if (has_outer_helper()) {
#pragma unroll
		for (u32 i = 0; i < CGROUP_OUTER; i++)
			event->outer[i] = bpf_get_current_ancestor_cgroup_id(i + 1);
	} else if (reads_outer()) {
		note_cgroups(event, task_now());
	}
}

/* A name that cannot be read is empty. */
INLINE void read_names(struct event_cgroup *path, struct kernfs_node *node)
{
	struct kernfs_node *above = node_above(node);
	u32 levels = 0;

	for (; levels < CGROUP_LEVELS && above; levels++) {
		path->name[levels][0] = 0;
		bpf_probe_read_kernel_str(path->name[levels], CGROUP_NAME_BYTES,
					  BPF_CORE_READ(node, name));
		node = above;
		above = node_above(node);
	}
	path->levels = levels;
	path->cut = above != NULL;
}

/*
 * Tells the path of the current task's cgroup, unless this worker knows the path. Returns whether
 * the worker knows the path now. Paths leave half of the ring to the life of processes; until there
 * is room, each sample tries again.
 */
GLOBAL int tell_path(void)
{
	struct kernfs_node *node = cgroup_node(task_now());
	u64 id = BPF_CORE_READ(node, id);
	u32 place = id * TOLD_FACTOR >> (64 - TOLD_BITS);
	u64 *told = bpf_map_lookup_elem(&told_cgroups, &place);

	if (!told)
		return 0;
	if (*told == told_mark(id))
		return 1;
	if (events_half_full())
		return 0;
	struct event_cgroup *path = bpf_ringbuf_reserve(&events, sizeof(*path), 0);

	if (!path)
		return 0;
	path->event =
		(struct event){.time = bpf_ktime_get_ns(), .kind = EVENT_CGROUP, .cgroup = id};
	read_names(path, node);
	bpf_ringbuf_submit(path, BPF_RB_NO_WAKEUP);
	*told = told_mark(id);
	return 1;
}

#endif

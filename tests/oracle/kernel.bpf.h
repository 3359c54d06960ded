/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observer of a test build (make OBSERVER=): has the kernel walk each stack that bpf/orc.bpf.h has
 * walked, and counts those that differ. tests/oracle/kernel.py reads the map by its name. In guests
 * (tests/kernels) nothing reads it: so reasons of losses, of which a guest has none, count as well.
 */
#ifndef KEYHOLE_ORACLE_KERNEL_BPF_H
#define KEYHOLE_ORACLE_KERNEL_BPF_H

#include "bpf/events.bpf.h"
#include "bpf/orc.bpf.h"

#define observe_walk(ctx, scratch)
#define observe_sample(scratch, record, reason)

enum kernel_seen {
	KERNEL_SAME,
	KERNEL_GIVEN_UP,
	KERNEL_OTHER_LENGTH,
	KERNEL_OTHER_FRAME,
	KERNEL_FRAMES,	/* of the stacks that are the same */
	KERNEL_OUTSIDE, /* given up, where the stack has code of modules or of BPF in it */
	KERNEL_NEITHER, /* given up, and the kernel's own walk ends at the leaf as well */
	KERNEL_SEEN
};

/* Behind the counts. */
enum kernel_last {
	KERNEL_OURS = KERNEL_SEEN, /* the two frames of the last difference */
	KERNEL_THEIRS,
	KERNEL_AT,	/* its place */
	KERNEL_STOPPED, /* where the last walk gave up that should not */
	KERNEL_LAST
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KERNEL_LAST);
	__type(key, u32);
	__type(value, u64);
} kernel_walks SEC(".maps");

struct kernel_theirs {
	u64 address[RECORD_KERNEL_FRAMES_MAX + 1];
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kernel_theirs);
} kernel_theirs SEC(".maps");

GLOBAL int kernel_note(u32 number, u64 value, u32 add)
{
	u64 *count = bpf_map_lookup_elem(&kernel_walks, &number);

	if (count && add)
		__sync_fetch_and_add(count, value);
	if (count && !add)
		*count = value;
	return 0;
}

/* Returns the first frame that differs, or the count. */
GLOBAL u32 kernel_compare(u32 count)
{
	struct scratch *scratch = scratch_state();
	u32 zero = 0, i = 0;
	struct kernel_theirs *theirs = bpf_map_lookup_elem(&kernel_theirs, &zero);

	if (!scratch || !theirs)
		return 0;
	NOT_UNROLLED
	for (; i < RECORD_KERNEL_FRAMES_MAX && i < count; i++) {
		u64 at = BOUND((u64)i, RECORD_KERNEL_FRAMES_MAX);

		if (scratch->sample.kernel[at] == theirs->address[at])
			continue;
		kernel_note(KERNEL_OURS, scratch->sample.kernel[at], 0);
		kernel_note(KERNEL_THEIRS, theirs->address[at], 0);
		kernel_note(KERNEL_AT, i, 0);
		break;
	}
	return i;
}

GLOBAL int kernel_count(u32 number, u32 reason)
{
	struct counters *count = counters_now();

	if (count && reason < REASON_COUNT)
		count->reason[reason]++;
	return kernel_note(number, 1, 1);
}

/* Returns whether the kernel's own walk leaves the text that the tables are for. */
GLOBAL int kernel_leaves_text(u32 count)
{
	struct kernel_orc *orc = orc_tables();
	u32 zero = 0;
	struct kernel_theirs *theirs = bpf_map_lookup_elem(&kernel_theirs, &zero);

	if (!orc || !theirs)
		return 0;
	NOT_UNROLLED
	for (u32 i = 0; i < RECORD_KERNEL_FRAMES_MAX && i < count; i++)
		if (!orc_is_text(orc, theirs->address[BOUND((u64)i, RECORD_KERNEL_FRAMES_MAX)]))
			return 1;
	return 0;
}

GLOBAL int kernel_judge_given_up(u32 theirs)
{
	struct scratch *scratch = scratch_state();
	struct kernel_orc *orc = orc_tables();
	u32 number = KERNEL_GIVEN_UP;

	if (!scratch || !orc)
		return 0;
	if (theirs < 2)
		number = KERNEL_NEITHER;
	if (kernel_leaves_text(theirs) || !orc_is_text(orc, scratch->orc.ip))
		number = KERNEL_OUTSIDE;
	if (number == KERNEL_GIVEN_UP)
		kernel_note(KERNEL_STOPPED, scratch->orc.ip, 0);
	return kernel_count(number, REASON_lost_nested);
}

GLOBAL int kernel_judge(u32 ours, u32 theirs)
{
	u32 both = ours < theirs ? ours : theirs;

	if (!ours)
		return kernel_judge_given_up(theirs);
	if (kernel_compare(both) < both)
		return kernel_count(KERNEL_OTHER_FRAME, REASON_lost_internal);
	if (ours != theirs && ours < KERNEL_FRAMES_FIRST)
		return kernel_count(KERNEL_OTHER_LENGTH, REASON_lost_internal);
	kernel_note(KERNEL_FRAMES, ours, 1);
	return kernel_count(KERNEL_SAME, REASON_lost_throttled);
}

INLINE void kernel_observe(void *ctx, u32 frames)
{
	u32 zero = 0, count;
	struct kernel_theirs *theirs = bpf_map_lookup_elem(&kernel_theirs, &zero);
	long bytes;

	if (!theirs)
		return;
	bytes = bpf_get_stack(ctx, theirs, sizeof(*theirs), 0);
	count = bytes > 0 ? bytes >> 3 : 0;
	kernel_judge(frames, count);
}

#define observe_kernel(ctx, scratch, frames) kernel_observe(ctx, frames)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Observer of a test build (make OBSERVER=): keeps the input and the output of each walk. */
#ifndef KEYHOLE_TESTS_ORACLE_CAPTURE_BPF_H
#define KEYHOLE_TESTS_ORACLE_CAPTURE_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/env.bpf.h"
#include "bpf/maps.bpf.h"
#include "tests/oracle/capture.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CAPTURE_SLOTS);
	__type(key, u32);
	__type(value, struct capture);
} captures SEC(".maps");

/* The number of captures so far. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} capture_count SEC(".maps");

/* The number of the capture under way on this CPU; 0: none. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} capture_now SEC(".maps");

INLINE struct capture *capture_slot(u64 number)
{
	u32 slot = number % CAPTURE_SLOTS;

	return bpf_map_lookup_elem(&captures, &slot);
}

/*
 * Copies upwards, to the first missing page behind one that is there. The page below a stack
 * pointer may be missing, and the first ones of a large frame: nothing has touched them yet.
 */
INLINE void capture_near(struct capture *capture, u64 sp)
{
	capture->near_start = (sp - CAPTURE_BELOW) & ~(CAPTURE_PAGE - 1ull);
	capture->near_read = 0;
	for (u32 i = 0; i < CAPTURE_NEAR; i++) {
		u64 from = capture->near_start + i * CAPTURE_PAGE;

		if (!walk_read(capture->near_page[i], CAPTURE_PAGE, from))
			capture->near_read |= 1u << i;
		else if (capture->near_read)
			break;
	}
}

/* A page that the walk went through may have come between the capture and the walk. */
INLINE int capture_lacks(const struct capture *capture, u64 end)
{
	u64 first = (capture->reg[REG_RSP] - capture->near_start) / CAPTURE_PAGE;
	u64 last = (end - 8 - capture->near_start) / CAPTURE_PAGE;
	u64 pages;

	if (last >= CAPTURE_NEAR)
		last = CAPTURE_NEAR - 1; /* further up, or another stack */
	pages = (2ull << last) - (1ull << first);
	return (capture->near_read & pages) != pages;
}

/* Copies downwards from the end of the walk: another stack, far up, or behind a missing page. */
INLINE void capture_far(struct capture *capture, u64 sp)
{
	capture->far_start = (sp & ~(CAPTURE_PAGE - 1ull)) - (CAPTURE_FAR - 1) * CAPTURE_PAGE;
	capture->far_read = 0;
	if (sp - capture->near_start < CAPTURE_NEAR * CAPTURE_PAGE && !capture_lacks(capture, sp))
		return;
	for (u32 i = CAPTURE_FAR; i-- > 0;) {
		u64 from = capture->far_start + i * CAPTURE_PAGE;

		if (walk_read(capture->far_page[i], CAPTURE_PAGE, from))
			break;
		capture->far_read |= 1u << i;
	}
}

INLINE void observe_walk(void *ctx, struct scratch *scratch)
{
	u32 zero = 0;
	u64 *count = bpf_map_lookup_elem(&capture_count, &zero);
	u64 *now = bpf_map_lookup_elem(&capture_now, &zero);

	if (!count || !now || scratch->kept) /* the stack is of another moment */
		return;
	u64 number = __sync_fetch_and_add(count, 1) + 1;
	struct capture *capture = capture_slot(number);

	if (!capture)
		return;
	*now = number;
	*(volatile u64 *)&capture->ended = 0;
	*(volatile u64 *)&capture->begun = number;
	asm volatile("" ::: "memory");
	for (u32 i = 0; i < 16; i++)
		capture->reg[i] = scratch->walk.reg[i];
	capture->reg[16] = scratch->walk.address;
	capture->in_sigreturn = scratch->walk.in_sigreturn;
	capture_near(capture, scratch->walk.reg[REG_RSP]);
}

INLINE void observe_sample(struct scratch *scratch, struct record *record, u32 reason)
{
	u64 end = scratch->walk.reg[REG_RSP];
	u32 zero = 0;
	u64 *now = bpf_map_lookup_elem(&capture_now, &zero);

	if (!now || !*now || scratch->kept)
		return;
	struct capture *capture = capture_slot(*now);

	if (!capture)
		return;
	u64 first = BOUND((u64)scratch->sample.record.kernel_frames, RECORD_KERNEL_FRAMES_MAX + 1);
	u64 bytes = BOUND((u64)scratch->walk.frames, RECORD_FRAMES_MAX + 1) * 8;

	capture->time = scratch->sample.record.time;
	capture->pid = scratch->sample.record.pid;
	capture->tid = scratch->sample.record.tid;
	capture->reason = reason;
	capture->frames = scratch->walk.frames;
	bpf_probe_read_kernel(capture->frame, bytes, (u64 *)(record + 1) + first);
	if (scratch->walk.frames > 1 && capture_lacks(capture, end))
		capture_near(capture, capture->reg[REG_RSP]);
	capture_far(capture, end);
	asm volatile("" ::: "memory");
	*(volatile u64 *)&capture->ended = *now;
	*now = 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The environment of the pure headers (bpf/walk/), as far as it is the same on every kernel. The
 * rest is in kernel_loop.bpf.h or kernel_for.bpf.h.
 */
#ifndef KEYHOLE_BPF_ENV_BPF_H
#define KEYHOLE_BPF_ENV_BPF_H

#include <bpf/bpf_core_read.h>

#include "bpf/base.bpf.h"
#include "bpf/config.bpf.h"
#include "bpf/kernel.h"
#include "bpf/maps.bpf.h"

/* Has the verifier forget the range of x, so that states after a search merge. */
#define HIDE(walk, x)                                 \
	({                                            \
		*(volatile u64 *)&(walk)->hide = (x); \
		*(volatile u64 *)&(walk)->hide;       \
	})

int walk_step(void);	  /* step.bpf.h */
int runtime_refuse(void); /* stacked.bpf.h */

INLINE struct scratch *scratch_state(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

INLINE struct walk *walk_state(void)
{
	struct scratch *scratch = scratch_state();

	return scratch ? &scratch->walk : NULL;
}

/* Returns the state of the sample whose walk it is. */
INLINE struct scratch *scratch_of(struct walk *walk)
{
	return (void *)((char *)walk - __builtin_offsetof(struct scratch, walk));
}

INLINE struct segment *walk_segment(u32 word)
{
	u32 number = word >> SEGMENT_WORD_BITS, zero = 0;
	void *inner = bpf_map_lookup_elem(&segments, &number);

	return inner ? bpf_map_lookup_elem(inner, &zero) : NULL;
}

INLINE struct rule_cache *walk_cache(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&rule_caches, &zero);
}

INLINE u64 walk_clock(void)
{
	return bpf_ktime_get_ns();
}

INLINE int walk_read(void *to, u64 bytes, u64 address)
{
	return bpf_probe_read_user(to, bytes, (void *)address) != 0;
}

/* Reads the walk's copy of the stack, of which the verifier knows nothing: a kernel address. */
INLINE int walk_read_copy(struct walk *walk, void *to, u64 bytes, u64 address)
{
	NOT_UNROLLED
	for (u32 i = 0; i < STACK_COPIES; i++) {
		const struct stack_copy *copy = &walk->copy[i];
		u64 from = copy->at + (address - copy->start);

		if (stack_copy_holds(copy, bytes, address))
			return bpf_probe_read_kernel(to, bytes, (void *)from) != 0;
	}
	return 1;
}

/* Returns the first of KEPT_PROBES places of an address among those of struct kept. */
INLINE u32 kept_place(u64 address)
{
	return address * cache_multiplier >> (64 - KEPT_CALLS_BITS);
}

#define KEPT_PROBES 4u

GLOBAL int walk_copy_calls(u64 address)
{
	struct scratch *scratch = scratch_state();
	u32 number = scratch ? scratch->kept - 1 : 0, place = kept_place(address);
	struct kept *slot = bpf_map_lookup_elem(&kept, &number);

	if (!slot)
		return 0;
	NOT_UNROLLED
	for (u32 i = 0; i < KEPT_PROBES; i++)
		if (slot->call[(place + i) & (KEPT_CALLS - 1)] == address)
			return 1;
	return 0;
}

/* Returns the record under way on this CPU. */
INLINE struct record *record_of(struct scratch *scratch)
{
	u32 cpu = scratch->cpu;
	u64 at = scratch->head & (ring_bytes - 1), limit = ring_bytes - RECORD_BYTES_MAX;
	u8 *ring = bpf_map_lookup_elem(&rings, &cpu);

	asm volatile("if %0 <= %1 goto +1; %0 = 0" : "+r"(at) : "r"(limit));
	return ring ? (struct record *)(ring + at) : NULL;
}

/* Stores the walk's next frame behind the kernel frames, or behind a list that came first. */
INLINE int walk_emit(struct walk *walk, u64 frame)
{
	struct scratch *scratch = scratch_of(walk);
	struct record *record = record_of(scratch);
	u64 at = (u64)scratch->sample.record.kernel_frames + walk->before + walk->frames;

	if (!record)
		return 1;
	at = BOUND(at, RECORD_WORDS_MAX);
	((u64 *)(record + 1))[at] = frame;
	return 0;
}

/*
 * Stores two words. This is a global function, because the kernel puts instructions in the place of
 * each look-up in a map. It then moves all those behind, which took a fifth of a load.
 */
GLOBAL int store_words(u32 number, u64 first, u64 second)
{
	struct scratch *scratch = scratch_state();
	struct record *record = scratch ? record_of(scratch) : NULL;

	if (!record)
		return 1;
	u64 at = (u64)scratch->sample.record.kernel_frames + scratch->walk.frames + number;

	at = BOUND(at, RECORD_WORDS_MAX - 1);
	((u64 *)(record + 1))[at] = first;
	((u64 *)(record + 1))[at + 1] = second;
	return 0;
}

/* The second word may be one that no record has in the end. */
INLINE int walk_store(struct walk *walk, u32 number, u64 first, u64 second)
{
	return store_words(number, first, second);
}

INLINE int has_grant(struct scratch *scratch)
{
	return bpf_map_lookup_elem(&grants, &scratch->sample.family) != NULL;
}

/* A kept sample's list is not read. */
INLINE u64 walk_list_time(struct walk *walk)
{
	struct scratch *scratch = scratch_of(walk);

	if (scratch->kept || !has_grant(scratch))
		return 0;
	return walk_budget_ns / 4 * 3;
}

u32 denies_memory(void); /* deny.bpf.h */

INLINE int walk_may_list(struct walk *walk)
{
	struct scratch *scratch = scratch_of(walk);

	return !scratch->kept && has_grant(scratch) && !denies_memory();
}

INLINE u64 walk_thread_pointer(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, thread.fsbase);
}

INLINE int walk_may_switch(void)
{
	return go_stacks;
}

INLINE u64 walk_leaf_stack(struct walk *walk)
{
	return scratch_of(walk)->sample.regs[PT_RSP];
}

/* struct pt_regs begins with the registers that calls preserve. */
INLINE void walk_leaf(struct walk *walk)
{
	struct scratch *scratch = scratch_of(walk);

	__builtin_memcpy(walk->window, scratch->sample.regs, (PT_ORIG_RAX + 1) * 8);
}

int tell_code(u64 code, u64 fingerprint); /* code.bpf.h */

int is_told(u64 code, u64 fingerprint); /* code.bpf.h */

int tell_inlined(u64 code, u64 fingerprint); /* code.bpf.h */

INLINE int walk_tell_inlined(struct walk *walk, u64 code, u32 fingerprint)
{
	return tell_inlined(code, fingerprint);
}

INLINE int walk_told(struct walk *walk, u64 code, u32 fingerprint)
{
	return !walk->list.told || is_told(code, fingerprint);
}

INLINE void walk_tell(struct walk *walk, u64 code, u32 fingerprint)
{
	if (walk->list.told)
		tell_code(code, fingerprint);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of kernel code that came after the ranges were filled: of modules and programs of BPF. BPF
 * asks the kernel itself, and tells the worker the name and an id that is made from the name.
 *
 * The only lock here is the lock of the events ring, which an NMI only tries. The kernel finds
 * names as for the trace of an oops (kernel/kallsyms.c), and the helper has a buffer for each level
 * of nesting. Without a name, the helper prints the address, which stays in scratch.
 *
 * The includer supplies what its kernels offer (kernel_*.bpf.h).
 */
#ifndef KEYHOLE_BPF_LATE_BPF_H
#define KEYHOLE_BPF_LATE_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/abi.h"
#include "bpf/config.bpf.h"
#include "bpf/env.bpf.h"
#include "bpf/events.bpf.h"

#define LATE_UNKNOWN KERNEL_FRAME(KERNEL_RANGE_UNKNOWN, 0)
#define LATE_FACTOR  0x9e3779b97f4a7c15ull
/* A name holds for 2^LATE_AGE_BITS ns, 4.3 s: later, other code may be at the address. */
#define LATE_AGE_BITS 32

/* Returns the stamp of the present time and worker: names with other stamps are told again. */
INLINE u32 late_stamp(u64 now)
{
	return (u32)(now >> LATE_AGE_BITS) ^ worker_epoch << 16;
}

/* Ties an entry to its address: two CPUs that write at once leave an entry of no address. */
INLINE u64 late_check(u64 address, u64 known)
{
	return address ^ (known + 1) * LATE_FACTOR;
}

/* Makes the id from the name, never 0: CPUs need not agree on ids. */
INLINE u32 late_id(const struct scratch *scratch)
{
	u64 hash = 0;

	for (u32 i = 0; i < EVENT_NAME_WORDS; i++)
		hash = (hash ^ scratch->name[i]) * LATE_FACTOR;
	return (u32)(hash >> 32) | !(u32)(hash >> 32);
}

/*
 * Returns the id of an address, or 0 without a name. Returns less when the worker could not be
 * told: the time is over, or half of the ring is full. The other half is for life events.
 */
INLINE s64 late_tell(struct scratch *scratch, u64 address, u64 now)
{
	if (now >= scratch->names_until || events_half_full())
		return -1;
	for (u32 i = 0; i < EVENT_NAME_WORDS; i++)
		scratch->name[i] = 0;
	long made = kernel_symbol(scratch->name, sizeof(scratch->name), address);

	if (made <= 0)
		return made;
	if ((u8)((u8)scratch->name[0] - '0') <= 9)
		return 0;
	struct event_name *name = bpf_ringbuf_reserve(&events, sizeof(*name), 0);
	u32 id = late_id(scratch);

	if (!name)
		return -1;
	name->event = (struct event){.time = now, .kind = EVENT_NAME, .generation = id};
	for (u32 i = 0; i < EVENT_NAME_WORDS; i++)
		name->name[i] = scratch->name[i];
	bpf_ringbuf_submit(name, BPF_RB_NO_WAKEUP);
	return id;
}

/* Returns the frame of an address in no range. Gives no names when the loader saw no addresses. */
GLOBAL u64 late_frame(u64 address)
{
	u32 place = address * cache_multiplier >> (64 - LATE_BITS), zero = 0;
	struct late_name *late = bpf_map_lookup_elem(&late_names, &place);
	struct kernel_range *kernel = bpf_map_lookup_elem(&kernel_ranges, &zero);
	struct scratch *scratch = scratch_state();
	u64 now = bpf_ktime_get_ns(), known;

	if (!late || !scratch || !kernel || !kernel->end)
		return LATE_UNKNOWN;
	known = *(volatile u64 *)&late->known;
	if ((u32)known != late_stamp(now) ||
	    *(volatile u64 *)&late->check != late_check(address, known)) {
		s64 id = late_tell(scratch, address, now);

		if (id < 0)
			return LATE_UNKNOWN;
		known = (u64)id << 32 | late_stamp(now);
		*(volatile u64 *)&late->known = known;
		*(volatile u64 *)&late->check = late_check(address, known);
	}
	return known >> 32 ? KERNEL_FRAME(KERNEL_RANGE_NAMED, known >> 32) : LATE_UNKNOWN;
}

#endif

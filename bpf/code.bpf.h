/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tells the worker of code of a runtime, whose names may be gone when the worker asks.
 *
 * The includer supplies what its kernels offer (kernel_*.bpf.h).
 */
#ifndef KEYHOLE_BPF_CODE_BPF_H
#define KEYHOLE_BPF_CODE_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/abi.h"
#include "bpf/cgroup.bpf.h"
#include "bpf/config.bpf.h"
#include "bpf/env.bpf.h"
#include "bpf/maps.bpf.h"

#define TOLD_CODE_FOR_BITS 38 /* ns, 275 s: then code is told again, for a worker that forgot it */
#define TOLD_CODE_SAMPLE   8u /* events in one sample; later samples tell of the rest */

/* Takes the bytes of one event from a budget. Two CPUs at once may take them once. */
INLINE int grant_take(struct grant *grant, u64 now)
{
	grant->bytes += (now - grant->filled) / GRANT_BYTE_NS;
	grant->filled = now;
	if (grant->bytes > GRANT_BYTES)
		grant->bytes = GRANT_BYTES;
	if (grant->bytes < sizeof(struct event_code))
		return 0;
	grant->bytes -= sizeof(struct event_code);
	return 1;
}

/* Reads a part, or what is before the end of its first page. Returns how many bytes were read. */
INLINE u64 read_part(u8 *to, u32 room, u64 address)
{
	u64 rest = 4096 - (address & 4095);

	if (address - 4096 >= WALK_ADDRESS_END - 4096)
		return 0;
	if (!bpf_probe_read_user(to, room, (void *)address))
		return room;
	rest = BOUND(rest, CODE_BYTES - CODE_PART_3 + 1);
	if (rest >= room || bpf_probe_read_user(to, rest, (void *)address))
		return 0;
	return rest;
}

/* Returns the address of a part, as the code says whose bytes are in list->memory. */
INLINE u64 part_address(struct runtime_list *list, u32 number, u64 code)
{
	u16 at = list->config.part[number];

	return at == RUNTIME_CODE_ITSELF ? code
					 : list->memory[at >> 3 & (RUNTIME_MEMORY_WORDS - 1)];
}

#define READ_PART(event, list, number, from, until)                                          \
	do {                                                                                 \
		(event)->address[number] = part_address(list, number, (event)->code);        \
		(event)->bytes[number] = read_part((event)->data + (from), (until) - (from), \
						   (event)->address[number]);                \
	} while (0)

/* Tells of code whose bytes are in list->memory, unless an event has told of it lately. */
GLOBAL int tell_code(u64 code, u64 fingerprint)
{
	struct scratch *scratch = scratch_state();

	if (!scratch)
		return 0;
	struct runtime_list *list = &scratch->walk.list;
	u64 family = scratch->sample.family, now = bpf_ktime_get_ns();
	u64 turn = (u64)worker_epoch << 32 | (u32)(now >> TOLD_CODE_FOR_BITS);
	u64 mark =
		(((family * TOLD_FACTOR ^ code) + fingerprint) * TOLD_FACTOR + turn) * TOLD_FACTOR |
		1;
	u32 place = mark >> (64 - TOLD_CODE_BITS);
	u64 *told = bpf_map_lookup_elem(&told_code, &place);
	struct grant *grant = bpf_map_lookup_elem(&grants, &family);

	if (!told || *told == mark || !grant)
		return 0;
	if (bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > EVENT_RING_BYTES / 2)
		return 0;
	if (!grant_take(grant, now))
		return 0;
	struct event_code *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);

	if (!event)
		return 0;
	__builtin_memset(&event->event, 0, sizeof(event->event));
	event->event.time = now;
	event->event.kind = EVENT_CODE;
	event->event.pid = scratch->sample.record.pid;
	event->event.generation = scratch->sample.record.generation;
	event->event.parent_generation = family;
	event->code = code;
	event->fingerprint = fingerprint;
	READ_PART(event, list, 0, 0, CODE_PART_1);
	READ_PART(event, list, 1, CODE_PART_1, CODE_PART_2);
	READ_PART(event, list, 2, CODE_PART_2, CODE_PART_3);
	READ_PART(event, list, 3, CODE_PART_3, CODE_BYTES);
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	*told = mark;
	list->told--;
	return 1;
}

#endif

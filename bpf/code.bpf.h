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
#include "bpf/events.bpf.h"
#include "bpf/grant.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/walk/runtime.bpf.h"

#define TOLD_CODE_FOR_BITS 38  /* ns, 275 s: then code is told again, for a worker that forgot it */
#define TOLD_CODE_SAMPLE   32u /* events in one sample; later samples tell of the rest */
#define TOLD_CODE_ALWAYS   8u  /* of them, whatever the time is */
/* ns of a walk's budget: with less left, no further event is sent */
#define TOLD_CODE_LEAVES_NS 15000ull

/* ---- parts ---- */

/* Returns the address of a part, as the code says whose bytes are in list->memory. */
GLOBAL u64 part_address(u32 number, u64 code)
{
	struct scratch *scratch = scratch_state();

	if (!scratch)
		return 0;
	const struct runtime_list *list = &scratch->walk.list;
	u16 at = list->config.part[number & (RUNTIME_PARTS - 1)];

	if (at == RUNTIME_CODE_ITSELF)
		return code;
	if (at == RUNTIME_CODE_NAMES)
		return list->name;
	if (list->config.flags & RUNTIME_STACKED)
		return runtime_reference(list, at);
	return runtime_u64(list, at);
}

/*
 * Reads a part, or what is before the end of its first page. A macro: on old kernels the verifier
 * must see the bound of the very register that is used. Returns how many bytes were read.
 */
#define READ_PART(to, bytes, limit, from)                                          \
	({                                                                         \
		u64 from_ = (from), most_ = BOUND((u64)(bytes), (limit) + 1);      \
		u64 rest_ = BOUND(4096 - (from_ & 4095), (limit) + 1), read_ = 0;  \
		if (from_ - 4096 < WALK_ADDRESS_END - 4096) {                      \
			if (!bpf_probe_read_user((to), most_, (void *)from_))      \
				read_ = most_;                                     \
			else if (rest_ < most_ &&                                  \
				 !bpf_probe_read_user((to), rest_, (void *)from_)) \
				read_ = rest_;                                     \
		}                                                                  \
		read_;                                                             \
	})

/* Fills in an event about code, but the last part. Inlined: a call may lose the event's memory. */
INLINE void fill_code(struct event_code *event, struct scratch *scratch, u64 code, u64 fingerprint)
{
	struct runtime_list *list = &scratch->walk.list;
	const struct record *record = &scratch->sample.record;

	__builtin_memset(&event->event, 0, sizeof(event->event));
	event->event.time = bpf_ktime_get_ns();
	event->event.kind = EVENT_CODE;
	event->event.pid = record->pid;
	event->event.generation = record->generation;
	event->event.parent_generation = scratch->sample.family;
	event->code = code;
	event->fingerprint = fingerprint;
	event->marked = scratch->walk.marked;
	event->name = list->name;
	event->called_by = list->call;
	event->called_in = list->called_in;
	event->named = list->named;
	/* the memory of an event may have words of an earlier one */
	__builtin_memset(event->text, 0, RUNTIME_TEXT_BYTES);
	if (!READ_PART(event->text, RUNTIME_TEXT_BYTES, RUNTIME_TEXT_BYTES, event->name))
		event->name = 0;
	NOT_UNROLLED
	for (u32 i = 0; i < RUNTIME_PARTS; i++)
		event->address[i] = part_address(i, code);
	event->bytes[0] = READ_PART(event->data, CODE_PART_1, CODE_PART_1, event->address[0]);
	event->bytes[1] = READ_PART(event->data + CODE_PART_1, CODE_PART_2 - CODE_PART_1,
				    CODE_PART_2 - CODE_PART_1, event->address[1]);
	event->bytes[2] = READ_PART(event->data + CODE_PART_2, CODE_PART_3 - CODE_PART_2,
				    CODE_PART_3 - CODE_PART_2, event->address[2]);
}

#define LAST_SHORT (CODE_SHORT_END - CODE_PART_3)
#define LAST_LONG  (CODE_BYTES - CODE_PART_3)
#define LAST_HEAD  16u /* bytes that may lie between the size and that which it counts */

/* Returns the size of the last part, as the code says. Without a size, that is a short part. */
INLINE u64 last_bytes(struct runtime_list *list, u64 code)
{
	u32 at = list->config.last_size, count = list->config.last_count;
	u64 bytes;

	if (count) {
		bytes = (u64)runtime_u32(list, count) * list->config.last_unit;
		if (!list->config.last_unit)
			bytes = code + runtime_u32(list, count) -
				part_address(RUNTIME_PARTS - 1, code);
		return bytes > LAST_LONG ? LAST_LONG : bytes;
	}
	if (!at || runtime_read_word(part_address(RUNTIME_PARTS - 1, code) + at))
		return LAST_SHORT;
	bytes = list->word;
	if (bytes > LAST_LONG)
		return LAST_LONG;
	bytes += at + 8 + LAST_HEAD;
	return bytes > LAST_LONG ? LAST_LONG : bytes;
}

/* ---- events ---- */

/*
 * Sends an event of so many bytes about code, whose last part has `last` bytes. Inlined: the kernel
 * wants constant sizes. Returns 0 without room.
 */
INLINE int send_event(struct scratch *scratch, u64 code, u64 fingerprint, u64 last, const u32 bytes)
{
	struct event_code *event = bpf_ringbuf_reserve(&events, bytes, 0);
	const u32 limit = bytes - __builtin_offsetof(struct event_code, data) - CODE_PART_3;

	if (!event)
		return 0;
	fill_code(event, scratch, code, fingerprint);
	event->bytes[3] = READ_PART(event->data + CODE_PART_3, last, limit, event->address[3]);
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return 1;
}

/* Returns a mark of code that a worker was told of, never 0. */
INLINE u64 code_mark(u64 family, u64 code, u64 fingerprint)
{
	u64 turn = (u64)worker_epoch << 32 | (u32)(bpf_ktime_get_ns() >> TOLD_CODE_FOR_BITS);
	u64 mark = ((family * TOLD_FACTOR ^ code) + fingerprint) * TOLD_FACTOR + turn;

	return mark * TOLD_FACTOR | 1;
}

INLINE int send_code(struct scratch *scratch, u64 code, u64 fingerprint)
{
	const u32 small = EVENT_CODE_SHORT_BYTES, large = sizeof(struct event_code);
	u64 last = last_bytes(&scratch->walk.list, code), family = scratch->sample.family;

	if (events_half_full())
		return 0;
	if (last <= LAST_SHORT)
		return grant_tell(family, small) &&
		       send_event(scratch, code, fingerprint, last, small);
	return grant_tell(family, large) && send_event(scratch, code, fingerprint, last, large);
}

/* In a mark: no caller had a name for the code yet. Another caller may have one. */
#define MARK_NAMELESS 2ull

/* Returns whether an event has told of code lately, and of its name. */
GLOBAL int is_told(u64 code, u64 fingerprint)
{
	struct scratch *scratch = scratch_state();

	if (!scratch)
		return 1;
	u64 mark = code_mark(scratch->sample.family, code, fingerprint);
	u32 place = mark >> (64 - TOLD_CODE_BITS);
	u64 *told = bpf_map_lookup_elem(&told_code, &place);

	return !told || *told == mark;
}

/* Tells of code whose bytes are in list->memory, unless an event has told of it lately. */
GLOBAL int tell_code(u64 code, u64 fingerprint)
{
	struct scratch *scratch = scratch_state();

	if (!scratch)
		return 0;
	u64 family = scratch->sample.family, mark = code_mark(family, code, fingerprint);
	u32 place = mark >> (64 - TOLD_CODE_BITS);
	u64 *told = bpf_map_lookup_elem(&told_code, &place);

	/* mostly */
	if (!told || *told == mark)
		return 0;
	if (!scratch->walk.list.name && !scratch->walk.list.call) {
		mark ^= MARK_NAMELESS;
		if (*told == mark)
			return 0;
	}
	if (scratch->walk.list.told <= TOLD_CODE_SAMPLE - TOLD_CODE_ALWAYS &&
	    bpf_ktime_get_ns() + TOLD_CODE_LEAVES_NS > scratch->walk.deadline)
		return 0;
	if (!send_code(scratch, code, fingerprint))
		return 0;
	*told = mark;
	scratch->walk.list.told--;
	return 1;
}

/* ---- functions that are inlined ---- */

/* Fills in an event about a place in compiled code, whose functions the window has. */
INLINE void fill_inlined(struct event_code *event, struct scratch *scratch, u64 code,
			 u64 fingerprint)
{
	const struct record *record = &scratch->sample.record;
	u64 bytes = BOUND((u64)scratch->walk.hotspot.inlined, HOTSPOT_INLINED_MAX + 1) * 16;

	__builtin_memset(event, 0, __builtin_offsetof(struct event_code, data));
	event->event.time = bpf_ktime_get_ns();
	event->event.kind = EVENT_CODE;
	event->event.pid = record->pid;
	event->event.generation = record->generation;
	event->event.parent_generation = scratch->sample.family;
	event->code = code;
	event->fingerprint = fingerprint;
	event->marked = scratch->walk.marked;
	event->address[0] = CODE_INLINED_AT;
	event->bytes[0] = bytes < CODE_PART_1 ? bytes : CODE_PART_1;
	event->address[1] = CODE_INLINED_AT + CODE_PART_1;
	event->bytes[1] = bytes - event->bytes[0];
	__builtin_memcpy(event->data, scratch->walk.window, CODE_TINY_END);
}

/* Tells of a place in compiled code. Returns whether the event was sent. */
GLOBAL int tell_inlined(u64 code, u64 fingerprint)
{
	struct scratch *scratch = scratch_state();

	if (!scratch || !scratch->walk.list.told || events_half_full())
		return 0;
	u64 family = scratch->sample.family, mark = code_mark(family, code, fingerprint);
	u32 place = mark >> (64 - TOLD_CODE_BITS);
	u64 *told = bpf_map_lookup_elem(&told_code, &place);

	if (!told || !grant_tell(family, EVENT_CODE_TINY_BYTES))
		return 0;
	struct event_code *event = bpf_ringbuf_reserve(&events, EVENT_CODE_TINY_BYTES, 0);

	if (!event)
		return 0;
	fill_inlined(event, scratch, code, fingerprint);
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	*told = mark;
	scratch->walk.list.told--;
	return 1;
}

#endif

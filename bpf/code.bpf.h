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
	if (list->config.flags & RUNTIME_CONTROL && number == 1)
		return list->label;
	if (list->config.flags & RUNTIME_CONTROL)
		return number == 2 ? list->path : list->lines;
	if (list->config.flags & RUNTIME_STACKED)
		return runtime_reference(list, at);
	return runtime_u64(list, at);
}

/*
 * Reads a part, or what is before an address. A macro: on old kernels the verifier must see the
 * bound of the very register that is used. Returns how many bytes were read.
 */
#define READ_BEFORE(to, bytes, limit, from, before)                                \
	({                                                                         \
		u64 from_ = (from), most_ = BOUND((u64)(bytes), (limit) + 1);      \
		u64 rest_ = BOUND((before)-from_, (limit) + 1), read_ = 0;         \
		if (from_ - 4096 < WALK_ADDRESS_END - 4096) {                      \
			if (!bpf_probe_read_user((to), most_, (void *)from_))      \
				read_ = most_;                                     \
			else if (rest_ < most_ &&                                  \
				 !bpf_probe_read_user((to), rest_, (void *)from_)) \
				read_ = rest_;                                     \
		}                                                                  \
		read_;                                                             \
	})

/* Returns the end of an address's page. */
#define PAGE_END(address) (((address) | 4095) + 1)

/* Reads a part, or what is before the end of its first page. */
#define READ_PART(to, bytes, limit, from) READ_BEFORE(to, bytes, limit, from, PAGE_END(from))

/* Fills in whose code an event is about. */
INLINE void fill_head(struct event_code *event, struct scratch *scratch, u64 code, u64 fingerprint)
{
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
}

/* Fills in an event about code, but the last part. Inlined: a call may lose the event's memory. */
INLINE void fill_code(struct event_code *event, struct scratch *scratch, u64 code, u64 fingerprint)
{
	struct runtime_list *list = &scratch->walk.list;

	fill_head(event, scratch, code, fingerprint);
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
#define LAST_LONG  CODE_LAST_BYTES
#define LAST_HEAD  16u /* bytes that may lie between the size and that which it counts */

/* Returns the size of the last part, as the code says. Without a size, that is a short part. */
INLINE u64 last_bytes(struct runtime_list *list, u64 code)
{
	u32 at = list->config.last_size, count = list->config.last_count;
	u64 bytes;

	if (list->config.flags & RUNTIME_CONTROL)
		return list->lines_bytes > LAST_LONG ? LAST_LONG : list->lines_bytes;
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

/*
 * Returns an address in a page of the last part that the process surely has. Where processes share
 * instructions, that is the frame's instruction, and else the part's beginning.
 */
GLOBAL u64 last_there(u64 address)
{
	struct scratch *scratch = scratch_state();

	if (!scratch)
		return address;
	const struct runtime_list *list = &scratch->walk.list;

	if (list->config.flags & RUNTIME_OWNED && list->told_at - address < LAST_LONG)
		return list->told_at;
	return address;
}

/* ---- events ---- */

enum sent {
	SENT_NOT, /* there is no room */
	SENT_WHOLE,
	SENT_SOME, /* the end of the last part is not there */
};

/*
 * Sends an event of so many bytes about code, whose last part has `last` bytes. Inlined: the kernel
 * wants constant sizes. table: bytes at the end that a table may have.
 */
INLINE enum sent send_event(struct scratch *scratch, u64 code, u64 fingerprint, u64 last,
			    const u32 bytes, const u32 table)
{
	struct event_code *event = bpf_ringbuf_reserve(&events, bytes, 0);
	const u32 limit = bytes - __builtin_offsetof(struct event_code, data) - CODE_PART_3;
	struct runtime_list *list = &scratch->walk.list;
	u64 there, read;

	if (!event)
		return SENT_NOT;
	fill_code(event, scratch, code, fingerprint);
	there = last_there(event->address[3]);
	read = READ_BEFORE(event->data + CODE_PART_3, last, limit, event->address[3],
			   PAGE_END(there));
	event->bytes[3] = read;
	event->table = event->table_bytes = event->table_at = 0;
	if (list->config.flags & RUNTIME_CONTROL) {
		event->table = list->table;
		u64 most = BOUND(list->table_bytes > table ? table : list->table_bytes, table + 1);

		event->table_at = CODE_PART_3 + limit - table;
		if (!bpf_probe_read_user(event->data + CODE_PART_3 + limit - table, most,
					 (void *)list->table))
			event->table_bytes = most;
		if (event->bytes[3] > limit - table)
			event->bytes[3] = limit - table;
	}
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return read < last ? SENT_SOME : SENT_WHOLE;
}

/* Returns a mark of code that a worker was told of, never 0. */
INLINE u64 code_mark(const struct scratch *scratch, u64 code, u64 fingerprint)
{
	u64 family = scratch->sample.family, time = scratch->sample.record.time;
	u64 turn = (u64)worker_epoch << 32 | (u32)(time >> TOLD_CODE_FOR_BITS);
	u64 mark = ((family * TOLD_FACTOR ^ code) + fingerprint) * TOLD_FACTOR + turn;

	return mark * TOLD_FACTOR | 1;
}

INLINE enum sent send_code(struct scratch *scratch, u64 code, u64 fingerprint)
{
	const u32 small = EVENT_CODE_SHORT_BYTES, large = sizeof(struct event_code);
	struct runtime_list *list = &scratch->walk.list;
	u64 last = last_bytes(list, code), family = scratch->sample.family, most = LAST_SHORT;

	if (list->config.flags & RUNTIME_CONTROL)
		most = list->table_bytes > CODE_TABLE_SHORT ? 0 : most - CODE_TABLE_SHORT;
	if (events_half_full()) {
		scratch->waited_for = 1;
		return SENT_NOT;
	}
	if (last <= most) {
		if (!grant_tell(family, small))
			return SENT_NOT;
		return send_event(scratch, code, fingerprint, last, small, CODE_TABLE_SHORT);
	}
	if (!grant_tell(family, large))
		return SENT_NOT;
	return send_event(scratch, code, fingerprint, last, large, CODE_TABLE_LONG);
}

/* In a mark: no caller had a name for the code yet. Another caller may have one. */
#define MARK_NAMELESS 2ull
/* In a mark: an event has the last part up to the end of this page, from 1 on. 0: all of it. */
#define MARK_PAGE(page) ((u64)(page) << 2)
#define MARK_PAGES	MARK_PAGE(7)

/* Returns the page of the last part with which an event ends that lacks the part's end, or 0. */
INLINE u64 last_page(struct runtime_list *list, u64 code)
{
	u64 address = part_address(RUNTIME_PARTS - 1, code);

	if (!(list->config.flags & RUNTIME_OWNED))
		return 0;
	return (last_there(address) >> 12) - (address >> 12) + 1;
}

/* Returns whether an event has a page. differs: its mark, beside that of a whole event. */
INLINE int has_page(u64 differs, u64 page)
{
	return page && !(differs & ~MARK_PAGES) && differs >= MARK_PAGE(page);
}

/* Returns whether an event has told of code lately, and of its name. */
GLOBAL int is_told(u64 code, u64 fingerprint)
{
	struct scratch *scratch = scratch_state();

	if (!scratch)
		return 1;
	u64 mark = code_mark(scratch, code, fingerprint);
	u64 *near = &scratch->told[mark >> 8 & (TOLD_NEAR - 1)];
	u32 place = mark >> (64 - TOLD_CODE_BITS);

	if (*near == mark)
		return 1;
	u64 *told = bpf_map_lookup_elem(&told_code, &place);

	if (told && *told != mark)
		return 0;
	*near = mark;
	return 1;
}

/*
 * Tells of code whose bytes are in list->memory, unless an event has told of it lately. Processes
 * may share instructions, and a process has those pages that it has met. So code whose end was not
 * there is told again with a frame that is in a later page.
 */
GLOBAL int tell_code(u64 code, u64 fingerprint)
{
	struct scratch *scratch = scratch_state();

	if (!scratch)
		return 0;
	struct runtime_list *list = &scratch->walk.list;
	u64 mark = code_mark(scratch, code, fingerprint), page;
	u32 place = mark >> (64 - TOLD_CODE_BITS);
	u64 *told = bpf_map_lookup_elem(&told_code, &place);
	enum sent sent;

	/* mostly */
	if (!told || *told == mark)
		return 0;
	if (!list->name && !list->call) {
		mark ^= MARK_NAMELESS;
		if (*told == mark)
			return 0;
	}
	page = last_page(list, code);
	if (has_page(*told ^ mark, page))
		return 0;
	if (list->told <= TOLD_CODE_SAMPLE - TOLD_CODE_ALWAYS &&
	    bpf_ktime_get_ns() + TOLD_CODE_LEAVES_NS > scratch->walk.deadline)
		return 0;
	sent = send_code(scratch, code, fingerprint);
	if (sent == SENT_NOT)
		return 0;
	if (sent == SENT_SOME)
		mark ^= MARK_PAGE(page);
	*told = mark;
	list->told--;
	return 1;
}

/* ---- functions that are inlined ---- */

/* Fills in an event about a place in compiled code, whose functions the window has. */
INLINE void fill_inlined(struct event_code *event, struct scratch *scratch, u64 code,
			 u64 fingerprint)
{
	u64 bytes = BOUND((u64)scratch->walk.hotspot.inlined, HOTSPOT_INLINED_MAX + 1) * 16;

	__builtin_memset(event, 0, __builtin_offsetof(struct event_code, data));
	fill_head(event, scratch, code, fingerprint);
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
	u64 family = scratch->sample.family, mark = code_mark(scratch, code, fingerprint);
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

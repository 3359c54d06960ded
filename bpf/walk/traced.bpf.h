/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames of a trace (struct runtime_trace). Each step does a little, so that the verifier has no
 * loop to follow. Pure C. The includer supplies the environment that bpf/walk/runtime.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_TRACED_BPF_H
#define KEYHOLE_BPF_WALK_TRACED_BPF_H

#include "bpf/walk/list.bpf.h"
#include "bpf/walk/memory.bpf.h"
#include "bpf/walk/walk.bpf.h"

/* The next step for the frames of a trace: list->traced. */
enum runtime_traced {
	TRACED_NOT,
	TRACED_TRACE,	 /* a search for the trace that has the code */
	TRACED_SNAPSHOT, /* a search for the snapshot of the code */
	TRACED_FRAME,	 /* a search for the entries of the innermost frame that is left */
	TRACED_HEAD	 /* a search for the first instruction of its function */
};

#define RUNTIME_PLACE_NONE 1u /* an address that is in no code */
#define INSTRUCTION_BYTES  4u

INLINE void runtime_search(struct runtime_list *list, u64 address, u64 stride, u32 count,
			   u64 wanted)
{
	list->search = address;
	list->stride = stride;
	list->low = 0;
	list->high = count;
	list->wanted = wanted;
}

#define TRACES_MAX 64u /* that are looked at where the number of the running one is not there */

/* Begins with the frames of the trace whose code the walk has left first. */
INLINE void runtime_begin_trace(struct runtime_list *list, u64 shared)
{
	const struct runtime_trace *trace = &list->config.trace;
	u64 number = 0;

	list->instruction = RUNTIME_PLACE_NONE;
	if (!trace->bytes || trace->bytes > RUNTIME_TRACE_BYTES)
		return;
	if (!runtime_read_word(shared + trace->number))
		number = list->word & 0xffffffff;
	if (runtime_read_word(shared + trace->traces))
		return;
	list->traced = TRACED_TRACE;
	list->search = list->word;
	list->low = number;
	list->high = number + 1;
	if (number - 1 < RUNTIME_CONSTANTS)
		return;
	/* the trace has called the garbage collector, whose number is there */
	list->low = 1;
	list->high = TRACES_MAX;
}

/* Looks at a trace. Returns 0, or 1: there is no other one. */
INLINE int runtime_try_trace(struct walk *walk)
{
	struct runtime_list *list = &walk->list;
	const struct runtime_trace *trace = &list->config.trace;

	if (list->low >= list->high || runtime_read_word(list->search + list->low * 8ull))
		return 1;
	list->low++;
	if (runtime_read(trace->bytes, list->word))
		return 0;
	u64 offset = walk->made - runtime_u64(list, trace->code);

	if (offset >= runtime_u32(list, trace->code_bytes))
		return 0;
	list->entries = runtime_u64(list, trace->entries);
	list->constants = runtime_u64(list, trace->constants);
	list->mask = 0xffff;
	runtime_search(list, runtime_u64(list, trace->snapshots) + trace->snapshot_code,
		       trace->snapshot_bytes,
		       runtime_u32(list, trace->snapshots_count) >>
				       (trace->snapshots_count & 2) * 8 &
			       0xffff,
		       offset);
	list->traced = TRACED_SNAPSHOT;
	return 0;
}

/* Begins the search for the innermost frame that is left. */
INLINE void runtime_seek_frame(struct runtime_list *list)
{
	list->traced = list->depth ? TRACED_FRAME : TRACED_NOT;
	list->mask = 0xff;
	runtime_search(list, list->entries + 3, sizeof(u32), list->entry_count, list->depth);
}

/* Takes the snapshot that was found. Returns 0, or 1: memory could not be read. */
INLINE int runtime_take_snapshot(struct runtime_list *list)
{
	const struct runtime_trace *trace = &list->config.trace;
	u64 at = list->search + list->low * list->stride - trace->snapshot_code;

	if (runtime_read(3 * 8, at & ~7ull))
		return 1;
	list->entries += 4ull * runtime_u32(list, (at & 4) + trace->snapshot_first);
	list->entry_count = runtime_u32(list, (at & 4) + trace->snapshot_count) >>
				    (trace->snapshot_count & 3) * 8 &
			    0xff;
	at = list->entries + 4 * list->entry_count;
	if (runtime_read(2 * 8, at & ~7ull))
		return 1;
	u64 place = runtime_u32(list, (at & 4) + 4);

	place = place << 32 | runtime_u32(list, at & 4);
	list->depth = place & 0xff;
	list->instruction = (place >> 8) + INSTRUCTION_BYTES;
	runtime_seek_frame(list);
	return 0;
}

/* Reads the constant of an entry into list->word. Returns 0 when it is one, and was read. */
INLINE int runtime_read_constant(struct runtime_list *list, u64 entry)
{
	u64 number = RUNTIME_ENTRY_NUMBER(entry);

	if (number >= RUNTIME_CONSTANTS)
		return 1;
	return runtime_read_word(list->constants + (number + 1) * 8);
}

GLOBAL int runtime_take_link(void);

#define HEAD_STEPS 256u /* instructions before that are looked at */

/* Begins the search for the head of the function that has the instruction: of a closure. */
INLINE void runtime_seek_head(struct runtime_list *list)
{
	list->traced = TRACED_HEAD;
	list->search = list->instruction;
	list->high = HEAD_STEPS;
}

/* Looks at an instruction before. Returns 0, or 1: there is no head. */
INLINE int runtime_find_head(struct runtime_list *list)
{
	const struct runtime_trace *trace = &list->config.trace;
	u64 at = list->search - INSTRUCTION_BYTES;

	if (!list->high-- || runtime_read_word(at & ~7ull))
		return 1;
	list->search = at;
	if ((list->word >> (at & 4) * 8 & 0xff) - trace->head >= trace->heads)
		return 0;
	list->code = at - list->config.stack.code_head;
	list->high = list->low; /* the frame's entries are those of before */
	list->traced = TRACED_FRAME;
	return 0;
}

/* Takes the frame that was found. Returns 0, or 1: it was not found, or memory was not read. */
INLINE int runtime_take_traced(struct runtime_list *list)
{
	u64 at = list->entries + 4 * list->low - 4, object = 0, next = 0;

	if (runtime_read(3 * 8, at & ~7ull))
		return 1;
	u32 before = runtime_u32(list, at & 4), function = runtime_u32(list, (at & 4) + 4);
	u32 link = runtime_u32(list, (at & 4) + 8);

	if (RUNTIME_ENTRY_SLOT(function) != list->depth ||
	    RUNTIME_ENTRY_SLOT(link) != list->depth + 1 || !(link & RUNTIME_ENTRY_FRAME))
		return 1;
	if (!runtime_read_constant(list, function)) {
		object = list->word & list->config.code_mask;
	} else if (!list->code) {
		runtime_seek_head(list);
		return 0;
	}
	if (!runtime_read_constant(list, before))
		next = list->word & list->config.code_mask;
	if (runtime_read_constant(list, link))
		return 1;
	list->link = list->word;
	list->function = object;
	list->next = next;
	list->ends = 0;
	if (runtime_take_link() || list->below >> 3 > list->depth)
		return 1;
	list->depth -= list->below >> 3;
	runtime_seek_frame(list);
	return 0;
}

/* Does a step for the frames of a trace. Returns 0 to go on, or 1 at the end of the list. */
INLINE int runtime_trace_step(struct walk *walk)
{
	struct runtime_list *list = &walk->list;
	int failed;

	if (list->traced == TRACED_TRACE) {
		failed = runtime_try_trace(walk);
	} else if (list->traced != TRACED_HEAD && list->high > list->low + 1) {
		u64 middle = list->low + ((list->high - list->low) >> 1);
		u64 at = list->search + middle * list->stride;

		failed = runtime_read_word(at & ~7ull);
		if ((list->word >> (at & 7) * 8 & list->mask) <= list->wanted)
			list->low = middle;
		else
			list->high = middle;
	} else if (list->traced == TRACED_SNAPSHOT) {
		failed = runtime_take_snapshot(list);
	} else if (list->traced == TRACED_HEAD) {
		failed = runtime_find_head(list);
	} else {
		failed = runtime_take_traced(list);
	}
	if (failed)
		list->traced = TRACED_NOT;
	return !list->on;
}

#endif

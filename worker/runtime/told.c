/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/told.h"

#include <string.h>

#include "worker/runtime/memory.h"
#include "worker/runtime/runtime.h"

static const size_t places[RUNTIME_PARTS + 1] = {
	0, CODE_PART_1, CODE_PART_2, CODE_PART_3, CODE_BYTES,
};

/* A part beyond its place, or at no address of a process, counts as not there. */
static void add_parts(struct memory *memory, const struct event_code *event)
{
	for (size_t i = 0; i < RUNTIME_PARTS; i++)
		if (event->bytes[i] <= places[i + 1] - places[i])
			memory_add(memory, event->address[i], event->data + places[i],
				   (size_t)event->bytes[i]);
}

/* Adds the table of an event that has one. */
static void add_table(struct memory *memory, const struct event_code *event)
{
	if (event->table_bytes <= CODE_TABLE_LONG &&
	    event->table_at <= CODE_BYTES - event->table_bytes)
		memory_add(memory, event->table, event->data + event->table_at, event->table_bytes);
}

/* FNV-1a, 64 bits. It guards against addresses that are used again, and against nobody. */
uint64_t told_mark(const unsigned char bytes[TOLD_PACKED_BYTES])
{
	uint64_t mark = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < TOLD_PACKED_BYTES; i++)
		mark = (mark ^ bytes[i]) * 0x100000001b3ull;
	return mark;
}

int told_read(const struct runtime_setup *setup, const struct cpython_types *types,
	      const struct event_code *event, struct told *ret_told)
{
	struct memory memory = {0};
	int r;

	_Static_assert(RUNTIME_PARTS + 2 <= MEMORY_RANGES_MAX, "there is a range for each part");
	add_parts(&memory, event);
	if (setup->config.flags & RUNTIME_CONTROL)
		add_table(&memory, event);
	for (size_t i = 0; i < RUNTIME_PARTS; i++)
		ret_told->part[i] = event->address[i];
	ret_told->called = event->name;
	ret_told->called_by = event->called_by;
	ret_told->called_in = event->called_in;
	ret_told->named = event->named;
	if (event->name)
		memory_add(&memory, event->name, event->text, sizeof(event->text));
	ret_told->has_callers_name = false;
	ret_told->is_start = false;
	ret_told->handler = setup->handler;
	ret_told->late = (struct told_late){0};
	ret_told->packed = (struct told_packed){0};
	ret_told->script = (struct told_script){0};
	ret_told->compiled = (struct told_compiled){0};
	ret_told->lines = (struct told_lines){.table = ret_told->table};
	r = setup->handler->read_code(setup, types, &memory, event->code, ret_told);
	ret_told->lines.first_line = ret_told->code.first_line;
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/told.h"

#include "worker/runtime/cpython_layout.h"
#include "worker/runtime/memory.h"

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

int told_read(const struct cpython_layout *layout, const struct cpython_types *types,
	      const struct event_code *event, struct told *ret_told)
{
	struct memory memory = {0};
	int r;

	_Static_assert(RUNTIME_PARTS <= MEMORY_RANGES_MAX, "there is a range for each part");
	add_parts(&memory, event);
	r = cpython_code_check(layout, types, &memory, event->code);
	if (r == 0)
		r = cpython_code_read(layout, &memory, event->code, &ret_told->code);
	if (r < 0)
		return r;
	ret_told->lines = layout->lines;
	ret_told->instruction_unit = layout->instruction_unit;
	ret_told->table_size = 0;
	r = cpython_code_lines(layout, &memory, event->code, ret_told->table, TOLD_TABLE_BYTES,
			       &ret_told->table_size);
	ret_told->is_cut = r != 0;
	if (r < 0)
		ret_told->table_size = 0;
	return 0;
}

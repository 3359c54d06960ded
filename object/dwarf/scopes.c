/* SPDX-License-Identifier: Apache-2.0 */
#include "object/dwarf/scopes.h"

#include <dwarf.h>
#include <stdlib.h>

#include "ipc/time.h"
#include "base/array.h"

#define DEPTH_MAX   256	  /* of a tree, as walk() recurses */
#define CLOCK_EVERY 16384 /* entries visited */

size_t wanted_from(const struct wanted *wanted, size_t count, uint64_t address)
{
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;

		if (wanted[middle].address < address)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

static uint32_t add(struct scopes *scopes, const Dwarf_Die *die, uint32_t parent)
{
	if (scopes->count >= SCOPE_NONE ||
	    ARRAY_RESERVE(scopes->items, scopes->capacity, scopes->count + 1) < 0) {
		scopes->no_memory = true;
		return SCOPE_NONE;
	}
	scopes->items[scopes->count] = (struct scope){*die, parent};
	return (uint32_t)scopes->count++;
}

static bool goes_on(struct scopes *scopes)
{
	if (++scopes->visited % CLOCK_EVERY == 0 && time_now() >= scopes->deadline)
		scopes->late = true;
	return !scopes->late && !scopes->no_memory;
}

enum coverage {
	COVERS_UNKNOWN, /* the entry has no addresses of its own */
	COVERS_NONE,
	COVERS_SOME
};

/*
 * Returns whether an entry covers any wanted address. With `scope`, the entry becomes a scope when
 * first needed, and the covered addresses get that scope. Ranges from 0 are skipped, as the linker
 * left their code out.
 */
static enum coverage cover(struct scopes *scopes, Dwarf_Die *die, uint32_t parent, uint32_t *scope)
{
	enum coverage covers = COVERS_UNKNOWN;
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0 && goes_on(scopes)) {
		size_t i = wanted_from(scopes->wanted, scopes->wanted_count, low);

		if (covers == COVERS_UNKNOWN)
			covers = COVERS_NONE;
		for (; low > 0 && i < scopes->wanted_count && scopes->wanted[i].address < high;
		     i++) {
			covers = COVERS_SOME;
			if (!scope)
				break;
			if (*scope == SCOPE_NONE)
				*scope = add(scopes, die, parent);
			scopes->wanted[i].scope = *scope;
		}
	}
	scopes->damaged |= offset < 0;
	return covers;
}

static void walk(struct scopes *scopes, Dwarf_Die *die, uint32_t scope, unsigned int depth);

static void enter_function(struct scopes *scopes, Dwarf_Die *die, uint32_t outer,
			   unsigned int depth)
{
	uint32_t scope = SCOPE_NONE;

	if (cover(scopes, die, outer, &scope) == COVERS_SOME || scopes->everywhere)
		walk(scopes, die, scope, depth);
}

static void visit(struct scopes *scopes, Dwarf_Die *die, uint32_t scope, unsigned int depth)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		enter_function(scopes, die, SCOPE_NONE, depth);
		break;
	case DW_TAG_inlined_subroutine:
		enter_function(scopes, die, scope, depth);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		if (cover(scopes, die, scope, NULL) != COVERS_NONE || scopes->everywhere)
			walk(scopes, die, scope, depth);
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
		walk(scopes, die, SCOPE_NONE, depth);
		break;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		if (scopes->everywhere)
			walk(scopes, die, SCOPE_NONE, depth);
		break;
	default:
		break;
	}
}

/* Visits the children of an entry. A sibling in front of its predecessor would be a loop. */
static void walk(struct scopes *scopes, Dwarf_Die *die, uint32_t scope, unsigned int depth)
{
	Dwarf_Die child;
	int r = depth < DEPTH_MAX ? dwarf_child(die, &child) : 1;

	while (r == 0 && goes_on(scopes)) {
		const void *before = child.addr;

		visit(scopes, &child, scope, depth + 1);
		r = dwarf_siblingof(&child, &child);
		if (r == 0 && child.addr <= before)
			r = -1;
	}
	scopes->damaged |= r < 0;
}

void scopes_find(struct scopes *scopes, Dwarf_Die *unit)
{
	for (size_t i = 0; i < scopes->wanted_count; i++)
		scopes->wanted[i].scope = SCOPE_NONE;
	scopes->count = 0;
	walk(scopes, unit, SCOPE_NONE, 0);
}

void scopes_release(struct scopes *scopes)
{
	free(scopes->items);
}

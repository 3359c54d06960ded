/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the functions of a unit, also inlined ones, that wanted addresses are in. Parts of the tree
 * without a wanted address are skipped.
 */
#ifndef KEYHOLE_OBJECT_DWARF_SCOPES_H
#define KEYHOLE_OBJECT_DWARF_SCOPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCOPE_NONE UINT32_MAX

struct scope { /* a function, or an inlined copy of one */
	Dwarf_Die die;
	uint32_t parent; /* index of the scope that it is inlined into; SCOPE_NONE: not inlined */
};

struct wanted {
	uint64_t address;
	size_t index;	/* the caller's */
	uint32_t scope; /* the innermost, or SCOPE_NONE */
};

struct scopes {
	struct wanted *wanted; /* by address; the caller's */
	size_t wanted_count;
	struct scope *items;
	size_t count, capacity;
	uint64_t deadline; /* CLOCK_MONOTONIC, ns */
	uint32_t visited;
	bool everywhere; /* walk also places that rarely have functions: types, other functions */
	bool damaged, late, no_memory;
};

/* Sets the scope of each wanted address. The caller ends with scopes_release(). */
void scopes_find(struct scopes *scopes, Dwarf_Die *unit);
void scopes_release(struct scopes *scopes);

/* Returns the index of the first one that is not below the address. */
size_t wanted_from(const struct wanted *wanted, size_t count, uint64_t address);

#endif

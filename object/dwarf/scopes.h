/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions of a unit, inlined ones too, wanted addresses are in. Only the parts of its tree
 * that hold some are walked.
 */
#ifndef KEYHOLE_OBJECT_DWARF_SCOPES_H
#define KEYHOLE_OBJECT_DWARF_SCOPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCOPE_NONE UINT32_MAX

struct scope { /* a function, or one that is inlined there */
	Dwarf_Die die;
	uint32_t parent; /* where it is inlined; SCOPE_NONE: nowhere */
};

struct wanted {
	uint64_t address;
	size_t index;	/* of the caller */
	uint32_t scope; /* the innermost, or SCOPE_NONE */
};

struct scopes {
	struct wanted *wanted; /* by address; the caller's */
	size_t wanted_count;
	struct scope *items;
	size_t count, capacity;
	uint64_t deadline; /* CLOCK_MONOTONIC, ns */
	uint32_t visited;
	bool everywhere; /* also where functions seldom are: in types, in other functions */
	bool damaged, late, no_memory;
};

/* Sets the scope of all wanted addresses. Release with scopes_release(). */
void scopes_find(struct scopes *scopes, Dwarf_Die *unit);
void scopes_release(struct scopes *scopes);

/* The first of them that is not below: an index. */
size_t wanted_from(const struct wanted *wanted, size_t count, uint64_t address);

#endif

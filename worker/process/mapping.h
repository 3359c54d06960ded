/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executable mappings of one address space over time. Processes share them after a fork until
 * one of these processes changes a mapping. Open mappings are sorted and never overlap; closed ones
 * stay a while for earlier samples.
 */
#ifndef KEYHOLE_WORKER_PROCESS_MAPPING_H
#define KEYHOLE_WORKER_PROCESS_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block;
struct file;
struct object;

#define MAPPING_OPEN	    UINT64_MAX /* until */
#define MAPPING_ADDRESS_END (1ull << 47)
#ifndef MAPPINGS_MAX
#define MAPPINGS_MAX 8191
#endif
#ifndef MAPPINGS_CLOSED_MAX
#define MAPPINGS_CLOSED_MAX 256 /* each look-up walks them */
#endif

struct mapping {
	uint64_t start, end, offset; /* offset in the file of start */
	uint64_t from, until;	     /* times */
	uint64_t identified;	     /* when the object was found */
	struct file *file;	     /* NULL: no file */
	struct object *object;	     /* NULL: not identified yet */
	uint32_t flags;		     /* MAPPING_* as they are in the block */
	bool is_shared;		     /* memory of several processes, without a file */
};

struct mappings {
	unsigned int references;
	uint32_t version; /* new when an address changes its meaning, and for a copy */
	/* Work of the next turn. These are no states of a process, because forks share mappings. */
	bool unsettled;	 /* a mapping has no object */
	bool dirty;	 /* the block is out of date */
	bool incomplete; /* the same, and there was no room for another block */
	struct mapping *open, *closed;
	size_t open_count, open_capacity, closed_count, closed_capacity;
	/* The publisher's: the words that BPF sees, and when they may be replaced again. */
	struct block *block;
	uint64_t published, publish_gap;
};

struct mappings *mappings_new(void); /* NULL: no memory */
/* Copies open and closed mappings. The copy has one reference and no block. NULL: no memory. */
struct mappings *mappings_copy(const struct mappings *mappings);
struct mappings *mappings_share(struct mappings *mappings);
/* Drops a reference. True: this was the last reference, and the caller now owns the block. */
bool mappings_unshare(struct mappings *mappings);
void mappings_free(struct mappings *mappings); /* whatever the references say */

/*
 * Adds a mapping that is there from mapping->from on, and closes the mappings that it overlaps.
 * Returns 1: something changed, 0: the mapping was known, -ENOMEM, or -E2BIG (MAPPINGS_MAX).
 */
int mappings_add(struct mappings *mappings, const struct mapping *mapping);
/*
 * Takes a sorted list of all mappings at a moment between asked and time. Closes mappings that are
 * not in the list and adds new ones; mappings that were told after asked stay. A new mapping that
 * overlaps none begins at 0, as it may always have been there. Returns as above.
 */
int mappings_replace(struct mappings *mappings, const struct mapping *list, size_t count,
		     uint64_t asked, uint64_t time);
/* Returns the mapping at an address at a time; NULL: none is known. */
const struct mapping *mappings_find(const struct mappings *mappings, uint64_t address,
				    uint64_t time);
/* Returns whether the mapping was there already at mapping->from, and still is. */
bool mappings_know(const struct mappings *mappings, const struct mapping *mapping);
/* Forgets a wrong object of an open mapping. */
void mappings_forget_object(struct mappings *mappings, size_t index);
/* Counts closed mappings of all processes that were forgotten early, by MAPPINGS_CLOSED_MAX. */
uint64_t mappings_forgotten(void);
/* Forgets mappings that were closed before a time. */
void mappings_prune(struct mappings *mappings, uint64_t before);

#endif

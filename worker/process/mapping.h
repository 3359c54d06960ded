/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executable mappings of one address space over time. Shared between processes after a fork
 * until one of them changes. Open mappings are sorted and never overlap; closed ones are kept a
 * while for samples taken before.
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
#define MAPPINGS_CLOSED_MAX 256 /* each look-up goes through them */
#endif

struct mapping {
	uint64_t start, end, offset; /* offset in the file of start */
	uint64_t from, until;	     /* when it was there */
	uint64_t identified;	     /* when it got its object, if that may be replaced */
	struct file *file;	     /* NULL: no file */
	struct object *object;	     /* NULL: not identified yet */
	uint32_t flags;		     /* MAPPING_* as they are in the block */
};

struct mappings {
	unsigned int references;
	uint32_t version; /* new when an address changes its meaning, and for a copy */
	bool unsettled;	  /* an open mapping has no object */
	bool dirty;	  /* differs from what the block says */
	bool incomplete;  /* and there was no room for another block */
	struct mapping *open, *closed;
	size_t open_count, open_capacity, closed_count, closed_capacity;
	/* The publisher's: what BPF sees, and when it may be replaced again. */
	struct block *block;
	uint64_t published, publish_gap;
};

struct mappings *mappings_new(void); /* NULL: no memory */
/* Open mappings again, with one reference and without a block; closed ones as well. */
struct mappings *mappings_copy(const struct mappings *mappings);
struct mappings *mappings_share(struct mappings *mappings);
/* One reference less; true when it was the last, and then block was NULL or is the caller's. */
bool mappings_unshare(struct mappings *mappings);
void mappings_free(struct mappings *mappings); /* whatever the references say */

/*
 * A mapping that is there from mapping->from on. What it overlaps is closed at that moment. Returns
 * 1 when something changed, 0 when it was known, -ENOMEM, or -E2BIG (MAPPINGS_MAX).
 */
int mappings_add(struct mappings *mappings, const struct mapping *mapping);
/*
 * All mappings at a moment between asked and time, sorted: closes what is not among them and adds
 * what is new, but what was told to be there since it was asked stays. The `from` of what overlaps
 * nothing known becomes 0, for it may always have been there. Returns as above.
 */
int mappings_replace(struct mappings *mappings, const struct mapping *list, size_t count,
		     uint64_t asked, uint64_t time);
/* What was at an address at a time; NULL: nothing known. */
const struct mapping *mappings_find(const struct mappings *mappings, uint64_t address,
				    uint64_t time);
/* It was there already at mapping->from, and is. */
bool mappings_know(const struct mappings *mappings, const struct mapping *mapping);
/* What an open mapping was taken for is not so. */
void mappings_forget_object(struct mappings *mappings, size_t index);
/* Closed ones that were forgotten before their time, of all processes: MAPPINGS_CLOSED_MAX. */
uint64_t mappings_forgotten(void);
/* Forgets what was closed before a time. */
void mappings_prune(struct mappings *mappings, uint64_t before);

#endif

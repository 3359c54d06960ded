/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the words about processes that BPF reads (bpf/abi.h): blocks of mappings, and slots. */
#ifndef KEYHOLE_WORKER_PROCESS_PUBLISHER_H
#define KEYHOLE_WORKER_PROCESS_PUBLISHER_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

struct block;
struct mapping;
struct mappings;
struct process;
struct publisher;
struct segments;

/* The table is borrowed. NULL: no memory. */
struct publisher *publisher_new(struct segments *segments, struct process_table *table);
void publisher_free(struct publisher *publisher);

/* Marks mappings as changed if the state of a table is not the one in the block. */
void publisher_look_for_ready(struct mappings *mappings);
/* Returns whether an object of the mappings is still identified, parsed or stored. */
bool publisher_waits(const struct mappings *mappings);
/*
 * Makes a new block if mappings changed or tables got ready, and gives the old block back. The more
 * often a large block changes, the longer it waits. 1: there is a new block, 0: nothing to do,
 * -EAGAIN: not now, -ENOSPC, -ENOMEM.
 */
int publisher_build(struct publisher *publisher, struct mappings *mappings, uint64_t now);
/* Returns whether an address has changed its meaning since the block was made. */
bool publisher_outdated(const struct mappings *mappings);
/* Gives a copy of mappings the same block. */
void publisher_share(struct mappings *copy, const struct mappings *mappings);
void publisher_release(struct publisher *publisher, struct mappings *mappings, uint64_t now);

/* Names the block under (pid, generation). Returns 0, -ENOSPC, -ENOENT. */
int publisher_publish(struct publisher *publisher, uint32_t pid, uint64_t generation,
		      const struct mappings *mappings);
void publisher_retract(struct publisher *publisher, uint32_t pid, uint64_t generation);

/*
 * Builds and publishes the block of a live process whose mappings are complete. Without room, the
 * walk learns that the block lacks something; if the old block is wrong, the walk learns that there
 * is none. Returns as publisher_build().
 */
int publisher_update(struct publisher *publisher, struct process *process, uint64_t now);

struct publisher_counts { /* processes that at least once had no slot, or no room for a block */
	uint64_t no_slot, no_room;
};
void publisher_counts(const struct publisher *publisher, struct publisher_counts *ret_counts);

/*
 * Gets what is to be added to an address of the mapping's object, which is parsed. False: the
 * mapping shows no segment of it.
 */
bool publisher_bias(const struct mapping *mapping, uint64_t *ret_bias);
/* Makes the words about one mapping for BPF. */
void publisher_entry(const struct mapping *mapping, struct mapping_entry *ret_entry);

uint64_t publisher_failures(const struct publisher *publisher); /* no slot or no room */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds ids by hash. A slot holds the hash beside the id, so that a search touches only entries of
 * an equal hash. The owner keeps the entries, makes keyed hashes (hash.h), and compares the entries
 * that a search finds.
 */
#ifndef KEYHOLE_BASE_SLOTS_H
#define KEYHOLE_BASE_SLOTS_H

#include <stddef.h>
#include <stdint.h>

struct slot {
	uint32_t hash;
	uint32_t id; /* 0: the slot is free */
};

struct slots {
	struct slot *items;
	size_t capacity; /* a power of two; 0: none yet */
	size_t used;
};

void slots_release(struct slots *slots); /* then the index is empty, as all zeros are */
/* Makes room for one more id. Returns 0 or -ENOMEM. */
int slots_reserve(struct slots *slots);
/* Returns the bytes that the slots take. */
size_t slots_bytes(const struct slots *slots);

/*
 * Return the first slot, or the next one, with this hash, or the free slot where an id of this hash
 * belongs. The caller has called slots_reserve() since it filled a slot.
 */
struct slot *slots_first(const struct slots *slots, uint32_t hash);
struct slot *slots_next(const struct slots *slots, struct slot *slot, uint32_t hash);
/* Fills a free slot that a search has returned. */
void slots_fill(struct slots *slots, struct slot *slot, uint32_t hash, uint32_t id);

#endif

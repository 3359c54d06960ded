/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of addresses that hold one function each, as a program that makes code tells them. A later
 * range takes its addresses from the ranges that were there. Adding and finding take logarithmic
 * time, whatever the order of the ranges is.
 */
#ifndef KEYHOLE_WORKER_MADE_RANGES_H
#define KEYHOLE_WORKER_MADE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MADE_ADDRESS_END (1ull << 47)
#define MADE_SIZE_MAX	 (1u << 30) /* of a range */

struct made_range {
	uint64_t start;
	uint32_t size;	/* at least 1 */
	uint32_t place; /* the adder's own: where the name is */
};

struct made_ranges;

/* most: ranges. *all: count of the ranges of all; borrowed. NULL: no memory. */
struct made_ranges *made_ranges_new(size_t most, size_t *all);
void made_ranges_free(struct made_ranges *ranges); /* NULL is fine */
void made_ranges_clear(struct made_ranges *ranges);
size_t made_ranges_count(const struct made_ranges *ranges);

/* Returns 0, -EINVAL (empty, too large, or beyond the addresses), -E2BIG (too many) or -ENOMEM. */
int made_ranges_add(struct made_ranges *ranges, const struct made_range *range);
bool made_ranges_find(const struct made_ranges *ranges, uint64_t address,
		      struct made_range *ret_range);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Counts keys. The counts are the values of a map (map.h). */
#ifndef KEYHOLE_BASE_TALLY_H
#define KEYHOLE_BASE_TALLY_H

#include <stdint.h>

struct map;

uint64_t tally_get(const struct map *map, uint64_t key); /* 0: never counted */
/* Adds to a count, which never falls below 0. A new key that finds no memory keeps the count 0. */
void tally_add(struct map *map, uint64_t key, int more);

#endif

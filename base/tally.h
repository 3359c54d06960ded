/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of keys, in a map (map.h) whose values they are. */
#ifndef KEYHOLE_BASE_TALLY_H
#define KEYHOLE_BASE_TALLY_H

#include <stdint.h>

struct map;

uint64_t tally_get(const struct map *map, uint64_t key);
/* Without memory for a new key its count stays 0. */
void tally_add(struct map *map, uint64_t key, int more);

#endif

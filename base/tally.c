/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tally.h"

#include "base/map.h"

uint64_t tally_get(const struct map *map, uint64_t key)
{
	return (uintptr_t)map_get(map, key);
}

void tally_add(struct map *map, uint64_t key, int more)
{
	int64_t count = (int64_t)tally_get(map, key) + more;

	if (count > 0)
		map_put(map, key, (void *)(uintptr_t)count);
	else
		map_remove(map, key);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/chain.h"

#include "base/map.h"

int chain_add(struct map *map, uint64_t key, struct chain *item)
{
	item->next = map_get(map, key);
	return map_put(map, key, item);
}

void chain_remove(struct map *map, uint64_t key, const struct chain *item)
{
	struct chain *before = map_get(map, key);

	if (before == item) {
		if (item->next)
			map_put(map, key, item->next); /* replaces a value, so needs no memory */
		else
			map_remove(map, key);
		return;
	}
	while (before && before->next != item)
		before = before->next;
	if (before)
		before->next = item->next;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/map_share.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

int map_share(const struct bpf_object *own, const struct bpf_object *sampler)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, own)
	{
		const char *name = bpf_map__name(map);
		const struct bpf_map *other = bpf_object__find_map_by_name(sampler, name);
		int r = 0;

		if (other && !bpf_map__is_internal(map))
			r = bpf_map__reuse_fd(map, bpf_map__fd(other));
		if (r)
			return r;
	}
	return 0;
}

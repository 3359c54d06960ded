/* SPDX-License-Identifier: Apache-2.0 */
/* Lets an object of BPF programs use the maps of the sampler's. */
#ifndef KEYHOLE_LOADER_MAP_SHARE_H
#define KEYHOLE_LOADER_MAP_SHARE_H

struct bpf_object;

/*
 * Takes the maps that both objects name, before `own` is loaded. Each object has constants and
 * variables of its own. Returns 0 or a negative errno.
 */
int map_share(const struct bpf_object *own, const struct bpf_object *sampler);

#endif

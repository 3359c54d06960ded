/* SPDX-License-Identifier: Apache-2.0 */
/* How much kernel memory BPF maps take. */
#ifndef KEYHOLE_LOADER_MAP_MEMORY_H
#define KEYHOLE_LOADER_MAP_MEMORY_H

#include <stdint.h>

struct bpf_object;

/*
 * Returns the bytes that the kernel tells in fdinfo (proc(5), "memlock") of all maps of a loaded
 * object. A map that the kernel tells nothing of counts as 0.
 */
uint64_t map_memory_sum(const struct bpf_object *object);

#endif

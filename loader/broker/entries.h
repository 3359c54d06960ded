/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of BPF's maps, by the kernel's own call. */
#ifndef KEYHOLE_LOADER_BROKER_ENTRIES_H
#define KEYHOLE_LOADER_BROKER_ENTRIES_H

#include <linux/bpf.h>
#include <stdint.h>

/* Calls bpf(2). attr: unused bytes are zero. Returns the call's result or a negative errno. */
int entries_call(enum bpf_cmd command, union bpf_attr *attr);

/* Each returns 0 or a negative errno. -ENOENT: there is no such entry. */
int entry_read(int map, const void *key, void *ret_value);
/* flags: BPF_ANY, or BPF_NOEXIST (-EEXIST: there is one). */
int entry_write(int map, const void *key, const void *value, uint64_t flags);
int entry_remove(int map, const void *key);
/* Sets the key behind `key`, or the first one: key NULL, or there is no such entry any more. */
int entry_next(int map, const void *key, void *ret_key);

#endif

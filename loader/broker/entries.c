/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/entries.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int entries_call(enum bpf_cmd command, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, command, attr, sizeof(*attr));

	if (r < 0)
		return -errno;
	return (int)r;
}

/* The kernel wants unused bytes of the union to be zero. */
static union bpf_attr element(int map, const void *key, const void *value)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)key;
	attr.value = (uintptr_t)value;
	return attr;
}

int entry_read(int map, const void *key, void *ret_value)
{
	union bpf_attr attr = element(map, key, ret_value);

	return entries_call(BPF_MAP_LOOKUP_ELEM, &attr);
}

int entry_write(int map, const void *key, const void *value, uint64_t flags)
{
	union bpf_attr attr = element(map, key, value);

	attr.flags = flags;
	return entries_call(BPF_MAP_UPDATE_ELEM, &attr);
}

int entry_remove(int map, const void *key)
{
	union bpf_attr attr = element(map, key, NULL);

	return entries_call(BPF_MAP_DELETE_ELEM, &attr);
}

int entry_next(int map, const void *key, void *ret_key)
{
	union bpf_attr attr = element(map, key, ret_key);

	return entries_call(BPF_MAP_GET_NEXT_KEY, &attr);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/map_memory.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/guard.h"

#define FIELD	     "memlock:"
#define FDINFO_BYTES 1024

static uint64_t read_memlock(int map)
{
	char path[48], text[FDINFO_BYTES];
	guard_fd int fd = -1;
	const char *field;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", map);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	length = read(fd, text, sizeof(text) - 1);
	if (length < 0)
		return 0;
	text[length] = '\0';
	field = strstr(text, FIELD);
	if (!field)
		return 0;
	return strtoull(field + strlen(FIELD), NULL, 10);
}

uint64_t map_memory_sum(const struct bpf_object *object)
{
	const struct bpf_map *map;
	uint64_t sum = 0;

	bpf_object__for_each_map(map, object) sum += read_memlock(bpf_map__fd(map));
	return sum;
}

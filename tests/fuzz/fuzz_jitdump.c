/* SPDX-License-Identifier: Apache-2.0 */
/* A jit-PID.dump: it grows at one place, and is read up to two times. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker/made/map_file.h"
#include "worker/made/ranges.h"

#define PLENTY (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks the names of the ranges that lines may have at these addresses. */
static void look(struct map_file *file)
{
	struct map_file_source source;
	char name[PERF_MAP_NAME_MAX + 1];
	struct perf_map_place place;
	struct made_range range;

	for (uint64_t address = 0; address < 64; address++) {
		int bytes;

		if (!map_file_find(file, address, &range))
			continue;
		if (address < range.start || address - range.start >= range.size)
			abort();
		if (map_file_source(file, &range, address, &source) == 0 &&
		    (source.file[0] == '\0' || strlen(source.file) > MAP_FILE_SOURCE_MAX))
			abort();
		bytes = map_file_name(file, &range, name);
		if (bytes > PERF_MAP_NAME_MAX)
			abort();
		if (bytes < 0)
			continue;
		name[bytes] = '\0';
		if (perf_map_split(name, &place) == 0 &&
		    place.file_at + place.file_bytes > (size_t)bytes)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t until = size > 0 ? data[size - 1] : 0;
	const size_t first = size > 0 ? data[size - 1] * size / 256 : 0;
	const int fd = memfd_create("dump", MFD_CLOEXEC);
	size_t all = 0;
	struct map_file *file;

	if (fd < 0)
		abort();
	file = map_file_new(fd, &all);
	if (!file || pwrite(fd, data, first, 0) != (ssize_t)first)
		abort();
	map_file_read(file, PLENTY, until);
	look(file);
	if (pwrite(fd, data + first, size - first, (off_t)first) < 0)
		abort();
	map_file_read(file, PLENTY, until);
	look(file);
	map_file_read(file, PLENTY, UINT64_MAX);
	look(file);
	map_file_free(file);
	if (all != 0)
		abort();
	return 0;
}

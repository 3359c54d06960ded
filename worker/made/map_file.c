/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/made/map_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/made/ranges.h"

#define PIECE_BYTES 65536u
#define TAIL_BYTES  32u

struct map_file {
	int fd;
	uint64_t offset; /* of the first byte that was not read: where a line begins */
	uint64_t bytes;	 /* read in all */
	bool skips;	 /* within a line that is too long */
	unsigned int restarts;
	uint64_t refused;
	unsigned char tail[TAIL_BYTES]; /* bytes that were read: those before tail_end */
	uint64_t tail_end;		/* 0: none */
	struct made_ranges *ranges;
	char piece[PIECE_BYTES];
};

struct map_file *map_file_new(int fd, size_t *all)
{
	struct map_file *file = calloc(1, sizeof(*file));

	if (file)
		file->ranges = made_ranges_new(MAP_FILE_RANGES_MAX, all);
	if (!file || !file->ranges) {
		free(file);
		close(fd);
		return NULL;
	}
	file->fd = fd;
	return file;
}

void map_file_free(struct map_file *file)
{
	if (!file)
		return;
	close(file->fd);
	made_ranges_free(file->ranges);
	free(file);
}

/* ---- lines ---- */

static void take_line(struct map_file *file, const char *line, size_t size, uint64_t offset)
{
	struct perf_map_line found;
	struct made_range range;
	int r = perf_map_parse(line, size, &found);

	if (r == 0 && found.size > MADE_SIZE_MAX)
		r = -EINVAL;
	if (r == 0) {
		range = (struct made_range){found.start, (uint32_t)found.size, (uint32_t)offset};
		r = made_ranges_add(file->ranges, &range);
	}
	file->refused += r < 0;
}

/* Takes the lines that are whole. Returns how many bytes were used. */
static size_t take_lines(struct map_file *file, size_t size)
{
	size_t used = 0;
	const char *end;

	while ((end = memchr(file->piece + used, '\n', size - used)) != NULL) {
		const size_t bytes = (size_t)(end - file->piece) - used;

		if (file->skips || bytes >= PERF_MAP_LINE_MAX)
			file->refused++;
		else
			take_line(file, file->piece + used, bytes, file->offset + used);
		file->skips = false;
		used += bytes + 1;
	}
	if (size - used < PERF_MAP_LINE_MAX)
		return used;
	file->skips = true;
	return size;
}

/* ---- the file ---- */

static void keep_tail(struct map_file *file, size_t used)
{
	if (used < TAIL_BYTES)
		return; /* the older one stays */
	memcpy(file->tail, file->piece + used - TAIL_BYTES, TAIL_BYTES);
	file->tail_end = file->offset;
}

static void restart(struct map_file *file)
{
	made_ranges_clear(file->ranges);
	file->offset = 0;
	file->tail_end = 0;
	file->skips = false;
	file->restarts++;
}

/* Returns whether the bytes before the offset are those that were read. */
static bool is_continued(const struct map_file *file, uint64_t size)
{
	unsigned char tail[TAIL_BYTES];
	ssize_t got;

	if (size < file->offset)
		return false;
	if (file->tail_end == 0)
		return true;
	got = pread(file->fd, tail, TAIL_BYTES, (off_t)(file->tail_end - TAIL_BYTES));
	return got == TAIL_BYTES && memcmp(tail, file->tail, TAIL_BYTES) == 0;
}

/* Reads one piece. Returns the bytes that were used: 0 at the end, or within its last line. */
static ssize_t read_piece(struct map_file *file)
{
	const ssize_t got = pread(file->fd, file->piece, PIECE_BYTES, (off_t)file->offset);
	size_t used;

	if (got < 0)
		return -errno;
	used = take_lines(file, (size_t)got);
	file->bytes += (uint64_t)got;
	file->offset += used;
	keep_tail(file, used);
	return (ssize_t)used;
}

int map_file_read(struct map_file *file, size_t most)
{
	struct stat status;
	ssize_t used = 1;

	if (fstat(file->fd, &status))
		return -errno;
	if (!is_continued(file, (uint64_t)status.st_size))
		restart(file);
	for (size_t left = most; used > 0; left -= (size_t)used) {
		if (file->bytes >= MAP_FILE_BYTES_MAX || file->offset >= MAP_FILE_BYTES_MAX)
			break;
		if ((uint64_t)status.st_size <= file->offset)
			break;
		if (left < PIECE_BYTES)
			return 1;
		used = read_piece(file);
	}
	if (used < 0)
		return (int)used;
	if (status.st_nlink == 0)
		return -ESTALE;
	return 0;
}

uint64_t map_file_bytes(const struct map_file *file)
{
	return file->bytes;
}

uint64_t map_file_refused(const struct map_file *file)
{
	return file->refused;
}

unsigned int map_file_restarts(const struct map_file *file)
{
	return file->restarts;
}

bool map_file_find(const struct map_file *file, uint64_t address, struct made_range *ret_range)
{
	return made_ranges_find(file->ranges, address, ret_range);
}

/* The file may say something else by now: so the line must still cover the range. */
int map_file_name(const struct map_file *file, const struct made_range *range,
		  char ret_name[PERF_MAP_NAME_MAX])
{
	char line[PERF_MAP_LINE_MAX];
	const ssize_t got = pread(file->fd, line, sizeof(line), range->place);
	struct perf_map_line found;
	const char *end;
	int r;

	if (got < 0)
		return -errno;
	end = memchr(line, '\n', (size_t)got);
	if (!end)
		return -ESTALE;
	r = perf_map_parse(line, (size_t)(end - line), &found);
	if (r < 0)
		return r;
	if (found.start > range->start || found.start + found.size < range->start + range->size)
		return -ESTALE;
	memcpy(ret_name, found.name, found.name_bytes);
	return (int)perf_map_strip(ret_name, found.name_bytes);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/made/map_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "worker/made/jitdump.h"
#include "worker/made/ranges.h"

#define PIECE_BYTES 65536u
#define TAIL_BYTES  32u

struct map_file {
	int fd;
	uint64_t offset; /* of the first byte that was not read: where a line begins */
	uint64_t bytes;	 /* read in all */
	bool skips;	 /* within a line that is too long */
	bool is_dump;	 /* of records: jitdump.h */
	bool is_timed;	 /* and they have times */
	bool is_broken;	 /* nothing more can be found */
	unsigned int restarts;
	uint64_t refused;
	unsigned char tail[TAIL_BYTES]; /* bytes that were read: those before tail_end */
	uint64_t tail_end;		/* 0: none */
	struct made_ranges *ranges;
	struct map *lines;    /* places of lines by the places of their code, + 1 each */
	uint64_t lines_start; /* of the code to which the last lines belong */
	uint64_t lines_place; /* of these lines, + 1; 0: the code has come */
	char piece[PIECE_BYTES];
};

struct map_file *map_file_new(int fd, size_t *all)
{
	struct map_file *file = calloc(1, sizeof(*file));

	if (file)
		file->ranges = made_ranges_new(MAP_FILE_RANGES_MAX, all);
	if (file && file->ranges)
		file->lines = map_new();
	if (!file || !file->lines) {
		if (file)
			made_ranges_free(file->ranges);
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
	map_free(file->lines);
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

/* ---- records ---- */

static void add_range(struct map_file *file, uint64_t start, uint64_t size, uint64_t place)
{
	const struct made_range range = {start, (uint32_t)size, (uint32_t)place};

	if (size > MADE_SIZE_MAX || made_ranges_add(file->ranges, &range) < 0)
		file->refused++;
}

/* The code has lines if these came last. */
static void add_lines(struct map_file *file, const struct jitdump_record *record, uint64_t place)
{
	if (file->lines_place && file->lines_start == record->start &&
	    map_count(file->lines) < MAP_FILE_RANGES_MAX)
		map_put(file->lines, place + 1, (void *)(uintptr_t)file->lines_place);
	file->lines_place = 0;
}

static void take_record(struct map_file *file, const struct jitdump_record *record, uint64_t place)
{
	struct made_range range;

	if (record->kind == JITDUMP_LINES) {
		file->lines_start = record->start;
		file->lines_place = place + 1;
	} else if (record->kind == JITDUMP_LOAD) {
		add_lines(file, record, place);
		add_range(file, record->start, record->size, place);
	}
	if (record->kind == JITDUMP_MOVE && made_ranges_find(file->ranges, record->from, &range))
		add_range(file, record->start, record->size, range.place);
}

static size_t take_header(struct map_file *file, size_t size)
{
	struct jitdump_header header;

	if (size < JITDUMP_HEADER_BYTES)
		return 0;
	file->is_broken = jitdump_begin(file->piece, size, &header) < 0;
	file->is_timed = header.is_timed;
	return header.bytes;
}

/*
 * Takes the records that are whole in the file and not younger than `until`. Returns how many bytes
 * they have, which may be more than there are here. left: bytes of the file from here on.
 */
static uint64_t take_records(struct map_file *file, size_t size, uint64_t left, uint64_t until)
{
	struct jitdump_record record;
	uint64_t used = 0;
	int r = 0;

	if (file->offset == 0) {
		used = take_header(file, size);
		if (used == 0)
			return 0;
	}
	while (!file->is_broken && used < size) {
		r = jitdump_parse(file->piece + used, size - used, &record);
		file->is_broken = r == -EINVAL;
		if (r < 0 || record.bytes > left - used)
			break;
		if (file->is_timed && record.time > until)
			break;
		take_record(file, &record, file->offset + used);
		used += record.bytes;
	}
	return used;
}

/* ---- the file ---- */

static void keep_tail(struct map_file *file, size_t used)
{
	if (used < TAIL_BYTES)
		return; /* the older one stays */
	memcpy(file->tail, file->piece + used - TAIL_BYTES, TAIL_BYTES);
	file->tail_end = file->offset;
}

static void forget_lines(struct map_file *file)
{
	size_t cursor = 0;
	uint64_t key;
	void *value;

	while (map_next(file->lines, &cursor, &key, &value))
		map_remove(file->lines, key);
}

static void restart(struct map_file *file)
{
	made_ranges_clear(file->ranges);
	forget_lines(file);
	file->lines_place = 0;
	file->offset = 0;
	file->tail_end = 0;
	file->skips = file->is_dump = file->is_timed = file->is_broken = false;
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

/*
 * Reads one piece of a file of `size` bytes. Returns the bytes that were used: 0 at the end, or
 * within its last line or record.
 */
static int64_t read_piece(struct map_file *file, uint64_t size, uint64_t until)
{
	const ssize_t got = pread(file->fd, file->piece, PIECE_BYTES, (off_t)file->offset);
	uint64_t used;

	if (got < 0)
		return -errno;
	if (file->offset == 0)
		file->is_dump = jitdump_is(file->piece, (size_t)got);
	if (file->is_dump)
		used = take_records(file, (size_t)got, size - file->offset, until);
	else
		used = take_lines(file, (size_t)got);
	file->bytes += (uint64_t)got;
	file->offset += used;
	if (!file->is_dump)
		keep_tail(file, used);
	return (int64_t)used;
}

/* Returns whether there is nothing that may be read. */
static bool is_read(const struct map_file *file, uint64_t size)
{
	return file->bytes >= MAP_FILE_BYTES_MAX || file->offset >= MAP_FILE_BYTES_MAX ||
	       file->is_broken || size <= file->offset;
}

int map_file_read(struct map_file *file, size_t most, uint64_t until)
{
	struct stat status;
	uint64_t size, before;
	int64_t used = 1;

	if (fstat(file->fd, &status))
		return -errno;
	size = (uint64_t)status.st_size;
	if (!is_continued(file, size))
		restart(file);
	before = file->bytes;
	while (used > 0 && !is_read(file, size)) {
		if (file->bytes - before + PIECE_BYTES > most)
			return 1;
		used = read_piece(file, size, until);
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

bool map_file_is_timed(const struct map_file *file)
{
	return file->is_timed;
}

unsigned int map_file_restarts(const struct map_file *file)
{
	return file->restarts;
}

bool map_file_find(const struct map_file *file, uint64_t address, struct made_range *ret_range)
{
	return made_ranges_find(file->ranges, address, ret_range);
}

static int name_of_record(const char *bytes, size_t size, char ret_name[PERF_MAP_NAME_MAX])
{
	struct jitdump_record record;
	int r = jitdump_parse(bytes, size, &record);

	if (r < 0)
		return r;
	if (record.kind != JITDUMP_LOAD || record.name_bytes == 0)
		return -ESTALE;
	memcpy(ret_name, record.name, record.name_bytes);
	return (int)perf_map_strip(ret_name, record.name_bytes);
}

/* The file may say something else by now: so the line must still cover the range. */
static int name_of_line(const char *bytes, size_t size, const struct made_range *range,
			char ret_name[PERF_MAP_NAME_MAX])
{
	const char *end = memchr(bytes, '\n', size);
	struct perf_map_line found;
	int r;

	if (!end)
		return -ESTALE;
	r = perf_map_parse(bytes, (size_t)(end - bytes), &found);
	if (r < 0)
		return r;
	if (found.start > range->start || found.start + found.size < range->start + range->size)
		return -ESTALE;
	memcpy(ret_name, found.name, found.name_bytes);
	return (int)perf_map_strip(ret_name, found.name_bytes);
}

int map_file_name(const struct map_file *file, const struct made_range *range,
		  char ret_name[PERF_MAP_NAME_MAX])
{
	char bytes[PERF_MAP_LINE_MAX];
	const ssize_t got = pread(file->fd, bytes, sizeof(bytes), range->place);

	if (got < 0)
		return -errno;
	if (file->is_dump)
		return name_of_record(bytes, (size_t)got, ret_name);
	return name_of_line(bytes, (size_t)got, range, ret_name);
}

/*
 * Returns whether the record at a range's place has the code of an address, and not code that was
 * moved. Lines of V8 do not count. V8 adds the size of an ELF header to their addresses, and V8 11
 * writes names of files that it has freed before.
 */
static bool has_source(struct map_file *file, const struct made_range *range, uint64_t address)
{
	static const char v8[] = "JS:";
	struct jitdump_record record;
	const ssize_t got = pread(file->fd, file->piece, JITDUMP_RECORD_BYTES, range->place);

	if (got < 0 || jitdump_parse(file->piece, (size_t)got, &record) < 0 ||
	    record.kind != JITDUMP_LOAD || address - record.start >= record.size)
		return false;
	return record.name_bytes < sizeof(v8) || memcmp(record.name, v8, sizeof(v8) - 1) != 0;
}

int map_file_source(struct map_file *file, const struct made_range *range, uint64_t address,
		    struct map_file_source *ret_source)
{
	const uint64_t place = (uintptr_t)map_get(file->lines, range->place + 1ull);
	struct jitdump_record record;
	struct jitdump_line line;
	ssize_t got;
	int r;

	if (!file->is_dump || place == 0 || !has_source(file, range, address))
		return -ENOENT;
	got = pread(file->fd, file->piece, MAP_FILE_LINES_BYTES, (off_t)(place - 1));
	if (got < 0)
		return -errno;
	r = jitdump_parse(file->piece, (size_t)got, &record);
	if (r < 0)
		return r;
	if (record.kind != JITDUMP_LINES || record.bytes > (size_t)got)
		return -E2BIG;
	r = jitdump_find_line(file->piece, record.bytes, address, &line);
	if (r < 0)
		return r;
	if (line.file_bytes == 0 || line.file_bytes > MAP_FILE_SOURCE_MAX)
		return -E2BIG;
	memcpy(ret_source->file, line.file, line.file_bytes);
	ret_source->file[line.file_bytes] = '\0';
	ret_source->line = line.line;
	return 0;
}

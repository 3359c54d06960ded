/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/made/jitdump.h"

#include <errno.h>
#include <string.h>

#include "base/reader.h"
#include "worker/made/perf_map.h"
#include "worker/made/ranges.h"

#define MAGIC	     0x4a695444u /* "JiTD", as a number of this byte order */
#define VERSION	     1u
#define FLAG_CYCLES  1u /* times are those of a counter of the CPU */
#define PREFIX_BYTES 16u
#define ENTRY_BYTES  16u /* before the name of the file */
#define HEADER_MAX   4096u
#define ID_LOAD	     0u
#define ID_MOVE	     1u
#define ID_LINES     2u
#define SAME_FILE    "\xff" /* a file's name: that of the entry before */

bool jitdump_is(const void *bytes, size_t size)
{
	struct reader reader;

	reader_init(&reader, bytes, size);
	return reader_u32(&reader) == MAGIC;
}

int jitdump_begin(const void *bytes, size_t size, struct jitdump_header *ret_header)
{
	struct reader reader;
	uint32_t magic, version;

	reader_init(&reader, bytes, size);
	magic = reader_u32(&reader);
	version = reader_u32(&reader);
	ret_header->bytes = reader_u32(&reader);
	reader_skip(&reader, 4 + 4 + 4 + 8); /* machine, padding, pid, time */
	ret_header->is_timed = !(reader_u64(&reader) & FLAG_CYCLES);
	if (reader_failed(&reader) || magic != MAGIC || version != VERSION)
		return -EINVAL;
	if (ret_header->bytes < JITDUMP_HEADER_BYTES || ret_header->bytes > HEADER_MAX)
		return -EINVAL;
	return 0;
}

/* The name ends with a NUL, behind which the code is. */
static int parse_load(struct reader *reader, struct jitdump_record *record)
{
	const char *name;
	size_t bytes;

	reader_skip(reader, 4 + 4 + 8); /* pid, tid, address in a file */
	record->start = reader_u64(reader);
	record->size = reader_u64(reader);
	reader_skip(reader, 8); /* number */
	if (reader_failed(reader))
		return -EAGAIN;
	bytes = reader_left(reader);
	if (bytes > PERF_MAP_NAME_MAX + 1)
		bytes = PERF_MAP_NAME_MAX + 1;
	name = reader_bytes(reader, bytes);
	record->name = name;
	record->name_bytes = strnlen(name, bytes);
	if (record->name_bytes == bytes && bytes <= PERF_MAP_NAME_MAX)
		return -EAGAIN;
	if (record->name_bytes > PERF_MAP_NAME_MAX)
		record->name_bytes = PERF_MAP_NAME_MAX;
	return 0;
}

static int parse_move(struct reader *reader, struct jitdump_record *record)
{
	reader_skip(reader, 4 + 4 + 8); /* pid, tid, address in a file */
	record->from = reader_u64(reader);
	record->start = reader_u64(reader);
	record->size = reader_u64(reader);
	if (reader_failed(reader))
		return -EAGAIN;
	return 0;
}

static int parse_lines(struct reader *reader, struct jitdump_record *record)
{
	record->start = reader_u64(reader);
	if (reader_failed(reader))
		return -EAGAIN;
	return 0;
}

/* A record that ends within its fields, or its name, is left out. */
static int parse_body(struct reader *reader, uint32_t id, struct jitdump_record *record)
{
	const size_t body = record->bytes - PREFIX_BYTES;
	const bool is_whole = reader_left(reader) >= body;
	enum jitdump_kind kind;
	struct reader sub = *reader;
	int r = 0;

	if (is_whole)
		reader_take(reader, body, &sub);
	if (id == ID_LOAD) {
		kind = JITDUMP_LOAD;
		r = parse_load(&sub, record);
	} else if (id == ID_MOVE) {
		kind = JITDUMP_MOVE;
		r = parse_move(&sub, record);
	} else if (id == ID_LINES) {
		kind = JITDUMP_LINES;
		r = parse_lines(&sub, record);
	} else {
		return 0;
	}
	if (r == 0)
		record->kind = kind;
	if (is_whole)
		return 0;
	return r;
}

int jitdump_parse(const void *bytes, size_t size, struct jitdump_record *ret_record)
{
	struct reader reader;
	uint32_t id;

	*ret_record = (struct jitdump_record){.kind = JITDUMP_OTHER};
	reader_init(&reader, bytes, size);
	id = reader_u32(&reader);
	ret_record->bytes = reader_u32(&reader);
	ret_record->time = reader_u64(&reader);
	if (reader_failed(&reader))
		return -EAGAIN;
	if (ret_record->bytes < PREFIX_BYTES)
		return -EINVAL;
	return parse_body(&reader, id, ret_record);
}

/* ---- lines ---- */

struct entry {
	uint64_t address;
	const char *file; /* NULL: that of the entry before */
	size_t file_bytes;
	uint32_t line;
};

/* Returns false if there is no further entry. */
static bool read_entry(struct reader *reader, struct entry *ret_entry)
{
	size_t left;

	ret_entry->address = reader_u64(reader);
	ret_entry->line = reader_u32(reader);
	reader_skip(reader, 4); /* a column, or another number that tells places in a line apart */
	left = reader_left(reader);
	ret_entry->file = reader_bytes(reader, left);
	if (reader_failed(reader) || !ret_entry->file)
		return false;
	ret_entry->file_bytes = strnlen(ret_entry->file, left);
	if (ret_entry->file_bytes == left || ret_entry->line > JITDUMP_LINE_MAX ||
	    ret_entry->address >= MADE_ADDRESS_END)
		return false;
	return true;
}

static bool is_same_file(const struct entry *entry, const struct jitdump_line *found)
{
	return entry->file_bytes == found->file_bytes &&
	       memcmp(entry->file, found->file, entry->file_bytes) == 0;
}

int jitdump_find_line(const void *bytes, size_t size, uint64_t address,
		      struct jitdump_line *ret_line)
{
	struct jitdump_line found = {.file = NULL};
	uint64_t count, nearest = 0;
	struct reader reader;
	bool is_ours = true;

	reader_init(&reader, bytes, size);
	reader_skip(&reader, PREFIX_BYTES + 8);
	count = reader_u64(&reader);
	for (; count > 0; count--) {
		const size_t at = reader_offset(&reader);
		struct entry entry;

		if (!read_entry(&reader, &entry))
			return -EINVAL;
		reader_seek(&reader, at + ENTRY_BYTES + entry.file_bytes + 1);
		if (!found.file) {
			found.file = entry.file;
			found.file_bytes = entry.file_bytes;
		} else if (entry.file_bytes != 1 || memcmp(entry.file, SAME_FILE, 1) != 0) {
			is_ours = is_same_file(&entry, &found);
		}
		if (entry.address > address || entry.address < nearest)
			continue;
		nearest = entry.address;
		found.line = is_ours ? entry.line : 0;
	}
	if (!found.file || reader_failed(&reader))
		return -EINVAL;
	*ret_line = found;
	return 0;
}

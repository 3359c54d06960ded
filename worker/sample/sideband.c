/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sample/sideband.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "base/reader.h"

#define SAMPLE_ID_BYTES 16u /* u32 pid, tid; u64 time */

void sideband_init(struct sideband *sideband, void *page, const void *data, uint64_t bytes)
{
	sideband->page = page;
	sideband->data = data;
	sideband->bytes = bytes;
	sideband->discarded = 0;
	sideband->records = 0;
	sideband->reading = false;
}

void sideband_skip(struct sideband *sideband)
{
	const uint64_t end = __atomic_load_n(&sideband->page->data_head, __ATOMIC_ACQUIRE);

	__atomic_store_n(&sideband->page->data_tail, end, __ATOMIC_RELEASE);
}

static int parse_mmap2(struct reader *reader, uint16_t misc, struct sideband_record *record)
{
	uint32_t major, minor, prot;
	uint64_t length;

	record->kind = SIDEBAND_MMAP;
	record->pid = reader_u32(reader);
	record->tid = reader_u32(reader);
	record->start = reader_u64(reader);
	length = reader_u64(reader);
	record->offset = reader_u64(reader);
	major = reader_u32(reader);
	minor = reader_u32(reader);
	record->device = makedev(major, minor);
	record->inode = reader_u64(reader);
	record->inode_generation = reader_u64(reader);
	prot = reader_u32(reader);
	reader_skip(reader, sizeof(uint32_t)); /* flags */
	record->text = reader_string(reader);
	if (reader_failed(reader) || misc & PERF_RECORD_MISC_MMAP_BUILD_ID ||
	    __builtin_add_overflow(record->start, length, &record->end))
		return -EBADMSG;
	return (prot & PROT_EXEC) != 0;
}

static int parse_comm(struct reader *reader, uint16_t misc, struct sideband_record *record)
{
	record->kind = SIDEBAND_COMM;
	if (misc & PERF_RECORD_MISC_COMM_EXEC)
		record->kind = SIDEBAND_EXEC;
	record->pid = reader_u32(reader);
	record->tid = reader_u32(reader);
	record->text = reader_string(reader);
	if (reader_failed(reader))
		return -EBADMSG;
	return 1;
}

static int parse_lost(struct reader *reader, uint16_t misc, struct sideband_record *record)
{
	(void)misc;
	record->kind = SIDEBAND_LOST;
	reader_skip(reader, sizeof(uint64_t)); /* id */
	record->lost = reader_u64(reader);
	if (reader_failed(reader))
		return -EBADMSG;
	return 1;
}

static int (*const parsers[])(struct reader *, uint16_t, struct sideband_record *) = {
	[PERF_RECORD_LOST] = parse_lost,
	[PERF_RECORD_COMM] = parse_comm,
	[PERF_RECORD_MMAP2] = parse_mmap2,
};

int sideband_parse(const void *bytes, size_t size, struct sideband_record *ret_record)
{
	struct sideband_record record = {0};
	struct reader reader, body;
	uint32_t type;
	uint16_t misc;
	int r;

	reader_init(&reader, bytes, size);
	type = reader_u32(&reader);
	misc = reader_u16(&reader);
	reader_skip(&reader, sizeof(uint16_t)); /* size */
	if (reader_failed(&reader) || reader_left(&reader) < SAMPLE_ID_BYTES)
		return -EBADMSG;
	if (type >= sizeof(parsers) / sizeof(*parsers) || !parsers[type])
		return 0;
	body = reader_sub(&reader, reader_left(&reader) - SAMPLE_ID_BYTES);
	reader_skip(&reader, 2 * sizeof(uint32_t)); /* pid, tid: of who caused it */
	record.time = reader_u64(&reader);
	r = parsers[type](&body, misc, &record);
	if (r > 0)
		*ret_record = record;
	return r;
}

/* Returns the bytes of a record in one piece. */
static const unsigned char *linearize(struct sideband *sideband, uint64_t tail, size_t size)
{
	uint64_t at = tail & (sideband->bytes - 1), first = sideband->bytes - at;

	if (size <= first)
		return sideband->data + at;
	memcpy(sideband->linear, sideband->data + at, first);
	memcpy(sideband->linear + first, sideband->data, size - first);
	return sideband->linear;
}

static size_t record_size(const struct sideband *sideband, uint64_t tail)
{
	struct perf_event_header header;

	/* Records are multiples of 8 bytes, so a header never wraps. */
	memcpy(&header, sideband->data + (tail & (sideband->bytes - 1)), sizeof(header));
	return header.size;
}

bool sideband_next(struct sideband *sideband, struct sideband_record *ret_record)
{
	if (!sideband->reading)
		sideband->end = __atomic_load_n(&sideband->page->data_head, __ATOMIC_ACQUIRE);
	sideband->reading = false;
	for (;;) {
		uint64_t tail = sideband->page->data_tail, left = sideband->end - tail;
		size_t size;
		int r;

		if (left == 0) {
			/* the record may be of a denied program */
			memset(sideband->linear, 0, sizeof(sideband->linear));
			return false;
		}
		size = 0;
		if (tail % 8 == 0 && left <= sideband->bytes)
			size = record_size(sideband, tail);
		if (size < sizeof(struct perf_event_header) || size % 8 != 0 || size > left) {
			/* Behind a bad length no record can be found. */
			sideband->discarded++;
			__atomic_store_n(&sideband->page->data_tail, sideband->end,
					 __ATOMIC_RELEASE);
			return false;
		}
		r = -EBADMSG;
		if (size <= SIDEBAND_RECORD_MAX)
			r = sideband_parse(linearize(sideband, tail, size), size, ret_record);
		sideband->discarded += r < 0;
		sideband->records++;
		/* The text lies in the ring, where the kernel may write from now on. */
		if (r > 0 && ret_record->text)
			ret_record->text = memmove(sideband->linear, ret_record->text,
						   strlen(ret_record->text) + 1);
		__atomic_store_n(&sideband->page->data_tail, tail + size, __ATOMIC_RELEASE);
		sideband->reading = r > 0;
		if (r > 0)
			return true;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/build_sideband.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

struct buffer {
	unsigned char bytes[4096 + 256];
	size_t size;
};

void build_sideband_init(struct build_sideband *build)
{
	build->page = calloc(1, 4096 + BUILD_SIDEBAND_BYTES);
	if (!build->page)
		abort();
	sideband_init(&build->sideband, build->page, (char *)build->page + 4096,
		      BUILD_SIDEBAND_BYTES);
}

void build_sideband_release(struct build_sideband *build)
{
	free(build->page);
}

void build_raw(struct build_sideband *build, const void *bytes, size_t size)
{
	struct perf_event_mmap_page *page = build->page;
	unsigned char *data = (unsigned char *)build->page + 4096;

	for (size_t i = 0; i < size; i++)
		data[(page->data_head + i) % BUILD_SIDEBAND_BYTES] =
			((const unsigned char *)bytes)[i];
	page->data_head += size;
}

static void put(struct buffer *buffer, const void *bytes, size_t size)
{
	memcpy(buffer->bytes + buffer->size, bytes, size);
	buffer->size += size;
}

static void put32(struct buffer *buffer, uint32_t value)
{
	put(buffer, &value, sizeof(value));
}

static void put64(struct buffer *buffer, uint64_t value)
{
	put(buffer, &value, sizeof(value));
}

static void put_text(struct buffer *buffer, const char *text)
{
	size_t size = (strlen(text) + 8) / 8 * 8;

	memset(buffer->bytes + buffer->size, 0, size);
	memcpy(buffer->bytes + buffer->size, text, strlen(text));
	buffer->size += size;
}

static void finish(struct build_sideband *build, struct buffer *buffer, uint32_t type,
		   uint16_t misc, uint32_t pid, uint64_t time)
{
	struct perf_event_header header = {.type = type, .misc = misc};

	put32(buffer, pid);
	put32(buffer, pid);
	put64(buffer, time);
	header.size = (uint16_t)buffer->size;
	memcpy(buffer->bytes, &header, sizeof(header));
	build_raw(build, buffer->bytes, buffer->size);
}

void build_mmap(struct build_sideband *build, uint64_t time, uint32_t pid, uint64_t start,
		uint64_t bytes, uint64_t offset, uint64_t inode, uint32_t protection,
		const char *path)
{
	struct buffer buffer = {.size = sizeof(struct perf_event_header)};

	put32(&buffer, pid);
	put32(&buffer, pid);
	put64(&buffer, start);
	put64(&buffer, bytes);
	put64(&buffer, offset);
	put32(&buffer, 8);
	put32(&buffer, 1);
	put64(&buffer, inode);
	put64(&buffer, inode ? 77 : 0);
	put32(&buffer, protection);
	put32(&buffer, 2);
	put_text(&buffer, path);
	finish(build, &buffer, PERF_RECORD_MMAP2, 0, pid, time);
}

void build_comm(struct build_sideband *build, uint64_t time, uint32_t pid, uint32_t tid,
		const char *comm, int exec)
{
	struct buffer buffer = {.size = sizeof(struct perf_event_header)};

	put32(&buffer, pid);
	put32(&buffer, tid);
	put_text(&buffer, comm);
	finish(build, &buffer, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, pid, time);
}

void build_lost(struct build_sideband *build, uint64_t time, uint64_t lost)
{
	struct buffer buffer = {.size = sizeof(struct perf_event_header)};

	put64(&buffer, 1);
	put64(&buffer, lost);
	finish(build, &buffer, PERF_RECORD_LOST, 0, 1, time);
}

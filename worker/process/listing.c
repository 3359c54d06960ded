/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "base/array.h"
#include "worker/process/file.h"
#include "worker/process/maps_text.h"
#include "worker/process/object.h"

#define READ_BYTES (64u << 10)

/*
 * Returns whether a mapping is of memory that has no file but in the kernel, and holds code made at
 * run time. PHP shares such memory between its processes (shmem_zero_setup() of mm/shmem.c).
 * Erlang and .NET have a second mapping of it to write to.
 */
static bool is_shared_memory(const char *path)
{
	static const char *const paths[] = {
		"/dev/zero (deleted)",
		"/memfd:doublemapper (deleted)",
		"/memfd:vmem (deleted)",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		if (strcmp(path, paths[i]) == 0)
			return true;
	return false;
}

bool listing_mapping(const struct tracker_parts *parts, const struct tracker_mapping *told,
		     struct mapping *ret_mapping)
{
	struct mapping mapping = {.start = told->start, .end = told->end};

	if (told->start >= told->end || told->end > MAPPING_ADDRESS_END)
		return false;
	if (strcmp(told->path, "[vdso]") == 0) {
		mapping.object = objects_vdso(parts->objects);
	} else if (told->inode == 0 || is_shared_memory(told->path)) {
		mapping.object = objects_anonymous(parts->objects);
		mapping.is_shared = told->inode != 0;
	} else {
		mapping.offset = told->offset;
		mapping.file = files_get(parts->files, told->device, told->inode,
					 told->inode_generation, told->path);
		if (!mapping.file)
			return false;
	}
	*ret_mapping = mapping;
	return true;
}

/* The broker compares the whole name. */
static void note_context(const struct maps_line *line, struct listing *listing)
{
	if (listing->context_start || !strstr(line->path, ":OTEL_CTX"))
		return;
	listing->context_start = line->start;
	listing->context_end = line->end;
}

static int add_line(const struct tracker_parts *parts, const struct maps_line *line,
		    struct listing *listing)
{
	const struct tracker_mapping told = {
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
		.device = line->device,
		.inode = line->inode,
		.path = line->path,
	};
	struct mapping mapping;
	int r;

	if (!line->executable)
		note_context(line, listing);
	if (!line->executable || !listing_mapping(parts, &told, &mapping))
		return 0;
	if (listing->count >= MAPPINGS_MAX) {
		listing->refused++;
		return 0;
	}
	/* The kernel sorts a listing; another order would break the search. */
	if (listing->count > 0 && listing->items[listing->count - 1].end > mapping.start)
		return 0;
	r = ARRAY_RESERVE(listing->items, listing->capacity, listing->count + 1);
	if (r == 0)
		listing->items[listing->count++] = mapping;
	return r;
}

int listing_parse(const struct tracker_parts *parts, const void *text, size_t size,
		  struct listing *ret_listing)
{
	struct listing listing = {0};
	struct maps_line line;
	struct reader reader;
	int r;

	reader_init(&reader, text, size);
	while ((r = maps_text_next(&reader, &line)) != 0) {
		if (r > 0)
			r = add_line(parts, &line, &listing);
		if (r < 0 && r != -EBADMSG) {
			listing_release(&listing);
			return r;
		}
	}
	*ret_listing = listing;
	return 0;
}

int listing_read(const struct tracker_parts *parts, int fd, struct listing *ret_listing)
{
	guard_free char *text = NULL;
	size_t size = 0, capacity = 0;
	ssize_t got;
	int r;

	do {
		r = ARRAY_RESERVE(text, capacity, size + READ_BYTES);
		if (r < 0)
			return r;
		got = read(fd, text + size, capacity - size);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got > 0)
			size += (size_t)got;
	} while (got != 0 && size < LISTING_TEXT_MAX);
	r = listing_parse(parts, text, size, ret_listing);
	if (r == 0 && got != 0)
		ret_listing->refused++;
	return r;
}

void listing_release(struct listing *listing)
{
	free(listing->items);
	*listing = (struct listing){0};
}

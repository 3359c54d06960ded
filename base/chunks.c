/* SPDX-License-Identifier: Apache-2.0 */
#include "base/chunks.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"

void chunks_release(struct chunks *chunks)
{
	for (size_t i = 0; i < chunks->count; i++) {
		if (i < chunks->spilled)
			munmap(chunks->items[i].bytes, CHUNKS_UNIT_BYTES);
		else
			free(chunks->items[i].bytes);
	}
	free(chunks->items);
	*chunks = (struct chunks){0};
}

/* Returns the chunk that has room for `size` bytes, or NULL without memory. */
static struct chunk *find_room(struct chunks *chunks, size_t size)
{
	struct chunk chunk = {0};

	if (chunks->count > 0 && chunks->items[chunks->count - 1].used + size <= CHUNKS_UNIT_BYTES)
		return &chunks->items[chunks->count - 1];
	if (ARRAY_RESERVE(chunks->items, chunks->capacity, chunks->count + 1) < 0)
		return NULL;
	chunk.bytes = calloc(1, CHUNKS_UNIT_BYTES); /* no earlier bytes may get into a file */
	if (!chunk.bytes)
		return NULL;
	chunks->items[chunks->count] = chunk;
	return &chunks->items[chunks->count++];
}

void *chunks_add(struct chunks *chunks, size_t size)
{
	struct chunk *chunk = find_room(chunks, size);
	unsigned char *to;

	if (!chunk)
		return NULL;
	to = chunk->bytes + chunk->used;
	chunk->used += (uint32_t)size;
	return to;
}

size_t chunks_bytes(const struct chunks *chunks)
{
	return (chunks->count - chunks->spilled) * CHUNKS_UNIT_BYTES;
}

void chunks_close(struct chunks *chunks)
{
	if (chunks->count > 0)
		chunks->closed = chunks->count - 1;
}

bool chunks_can_spill(const struct chunks *chunks)
{
	return chunks->spilled < chunks->closed;
}

/* Nothing else moves the file's position. The worker's filter has write(), and no pwrite(). */
static int write_chunk(const unsigned char *bytes, int fd, uint64_t at)
{
	size_t done = 0;

	if (lseek(fd, (off_t)at, SEEK_SET) < 0)
		return -errno;
	while (done < CHUNKS_UNIT_BYTES) {
		ssize_t written = write(fd, bytes + done, CHUNKS_UNIT_BYTES - done);

		if (written == 0)
			return -EIO;
		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0)
			done += (size_t)written;
	}
	return 0;
}

int chunks_spill(struct chunks *chunks, int fd, uint64_t *at)
{
	struct chunk *chunk = &chunks->items[chunks->spilled];
	void *mapped;
	int r = write_chunk(chunk->bytes, fd, *at);

	if (r < 0)
		return r;
	mapped = mmap(NULL, CHUNKS_UNIT_BYTES, PROT_READ, MAP_SHARED, fd, (off_t)*at);
	if (mapped == MAP_FAILED)
		return -errno;
	*at += CHUNKS_UNIT_BYTES;
	free(chunk->bytes);
	chunk->bytes = mapped;
	chunks->spilled++;
	return 0;
}

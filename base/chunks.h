/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps bytes that are only appended, in chunks of one size that never move. A full chunk can go to
 * a file. The file's pages then stand for the chunk. The kernel takes such pages back when other
 * processes need memory, and reads the pages again for the next access.
 */
#ifndef KEYHOLE_BASE_CHUNKS_H
#define KEYHOLE_BASE_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef CHUNKS_UNIT_BYTES
#define CHUNKS_UNIT_BYTES (256u << 10) /* a multiple of the page size */
#endif

struct chunk {
	unsigned char *bytes; /* CHUNKS_UNIT_BYTES; read-only when the chunk is in the file */
	uint32_t used;
};

struct chunks {
	struct chunk *items;
	size_t count, capacity;
	size_t closed;	/* so many chunks, from the first one on, change no more */
	size_t spilled; /* so many chunks, from the first one on, are in the file */
};

void chunks_release(struct chunks *chunks); /* then there is no chunk, as with all zeros */
/*
 * Returns room for `size` bytes, at most CHUNKS_UNIT_BYTES, in one chunk and behind all earlier
 * bytes, or NULL without memory. Bytes whose sizes are all multiples of a number are aligned to
 * that number, up to 16.
 */
void *chunks_add(struct chunks *chunks, size_t size);
/* Returns the bytes that chunks hold in memory, and not in the file. */
size_t chunks_bytes(const struct chunks *chunks);

/* Says that the owner changes no byte of the chunks that are full by now. */
void chunks_close(struct chunks *chunks);
/* Returns whether a closed chunk is not in the file. */
bool chunks_can_spill(const struct chunks *chunks);
/*
 * Moves the first closed chunk that is not in the file to the end of the file, which only this
 * process changes. *at is the file's length, and grows by CHUNKS_UNIT_BYTES. Pointers into the
 * chunk end. Returns 0 or a negative errno, with all bytes still in memory.
 */
int chunks_spill(struct chunks *chunks, int fd, uint64_t *at);

#endif

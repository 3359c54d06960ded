/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a process, as far as an event has brought some: ranges of bytes. Code reads as if all
 * memory were there, and gets -EFAULT for what is not.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_MEMORY_H
#define KEYHOLE_WORKER_RUNTIME_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define MEMORY_RANGES_MAX 8u

struct memory_range {
	uint64_t address;
	const unsigned char *bytes; /* borrowed */
	size_t size;
};

struct memory { /* begins as zeros */
	struct memory_range range[MEMORY_RANGES_MAX];
	size_t count;
};

/*
 * Adds a range, which may overlap others. Returns 0, -EFAULT: the address is not one of a process,
 * or -ENOSPC.
 */
int memory_add(struct memory *memory, uint64_t address, const void *bytes, size_t size);

/* Copies bytes that one range has. Returns 0 or -EFAULT. */
int memory_read(const struct memory *memory, uint64_t address, void *ret_bytes, size_t size);
/* Reads a number of 8 bytes; otherwise as memory_read(). */
int memory_word(const struct memory *memory, uint64_t address, uint64_t *ret_word);
/* Returns how many bytes can be read at an address at once. */
size_t memory_left(const struct memory *memory, uint64_t address);

#endif

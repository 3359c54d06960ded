/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a process, as far as it has been read, for one question about it. Code that answers the
 * question reads as if all memory were there. Where bytes are missing, the read notes them as
 * wanted and returns -EAGAIN. The owner asks for the wanted bytes and begins the question anew. So
 * one answer never mixes bytes that were read at different times for different questions.
 *
 * Memory is in lines: a line is within one page, and so is readable as a whole or not at all.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_MEMORY_H
#define KEYHOLE_WORKER_RUNTIME_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_LINE	 256u  /* bytes; divides a page */
#define MEMORY_LINES_MAX 256u  /* of one question */
#define MEMORY_WANT_MAX	 4096u /* bytes of one request */

struct memory;

struct memory *memory_new(void); /* NULL: no memory */
void memory_free(struct memory *memory);
/* Forgets all lines, for another question. */
void memory_reset(struct memory *memory);

/*
 * Copies bytes of the process.
 *   0        done
 *   -EAGAIN  some bytes are wanted now
 *   -EFAULT  some bytes cannot be read, or the address is not one of a process
 *   -ENOSPC  the question takes more than MEMORY_LINES_MAX lines
 */
int memory_read(struct memory *memory, uint64_t address, void *ret_bytes, size_t size);
/* Reads a number of 8 bytes; otherwise as memory_read(). */
int memory_word(struct memory *memory, uint64_t address, uint64_t *ret_word);

/*
 * Returns the size of the next wanted bytes, which count as asked for from now on, or 0: there are
 * none. They are in lines, at most MEMORY_WANT_MAX.
 */
size_t memory_want(struct memory *memory, uint64_t *ret_address);
/* Takes the answer to a want: `got` bytes of `size`. Lines that are not whole cannot be read. */
void memory_answer(struct memory *memory, uint64_t address, size_t size, const void *bytes,
		   size_t got);

#endif

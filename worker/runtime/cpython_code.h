/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what a CPython code object says of its function. The object is in the memory of a process,
 * which may be hostile. Each length is bounded, and pointers lead to bytes of that process alone.
 *
 * All functions return -EAGAIN when they need more of the memory (memory.h), -EFAULT or -ENOSPC as
 * memory_read() does, and -EBADMSG for what cannot be.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_CPYTHON_CODE_H
#define KEYHOLE_WORKER_RUNTIME_CPYTHON_CODE_H

#include <stddef.h>
#include <stdint.h>

struct cpython_layout;
struct memory;

#define CPYTHON_NAME_BYTES 256u /* with a NUL; a longer text is cut */
#define CPYTHON_FILE_BYTES 512u

struct cpython_code {
	char name[CPYTHON_NAME_BYTES]; /* qualified, as far as the version has such a name */
	char file[CPYTHON_FILE_BYTES]; /* as the compiler was told, maybe "<string>" */
	uint32_t first_line;
};

int cpython_code_read(const struct cpython_layout *layout, struct memory *memory, uint64_t address,
		      struct cpython_code *ret_code);

/*
 * Returns the line of the instruction at an offset from the start of the code, as cpython_line()
 * does, or one of the errors above.
 */
int64_t cpython_code_line(const struct cpython_layout *layout, struct memory *memory,
			  uint64_t address, uint32_t offset);

/* Reads a text (str) as UTF-8, cut to `size` with its NUL. Returns 0 or an error. */
int cpython_text(const struct cpython_layout *layout, struct memory *memory, uint64_t address,
		 char *ret_text, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel function names by (range, offset), from the sealed file that the loader wrote (layout:
 * base/ksyms_file.h). A bounded reader reads the file, like any other.
 */
#ifndef KEYHOLE_WORKER_KERNEL_KERNEL_SYMBOLS_H
#define KEYHOLE_WORKER_KERNEL_KERNEL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct kernel_symbols;

/* Copies the symbols; fd stays the caller's. Returns 0, -EBADMSG, -EIO, -ENOMEM. */
int kernel_symbols_new(int fd, struct kernel_symbols **ret_symbols);
void kernel_symbols_free(struct kernel_symbols *symbols);

/* Returns the bytes in memory. */
size_t kernel_symbols_bytes(const struct kernel_symbols *symbols);

/* Returns the function that covers an offset; valid as long as the table. NULL: none is known. */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint32_t range,
				uint32_t offset, uint32_t *ret_start);
/* Returns "[kernel]" or a module's name in brackets; NULL: there is no such range. */
const char *kernel_symbols_range(const struct kernel_symbols *symbols, uint32_t range);

#endif

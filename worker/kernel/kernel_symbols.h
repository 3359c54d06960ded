/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel function names by (range, offset), from the sealed file the loader wrote (its layout:
 * base/ksyms_file.h). The file's bytes go through the bounded reader like any other.
 */
#ifndef KEYHOLE_WORKER_KERNEL_KERNEL_SYMBOLS_H
#define KEYHOLE_WORKER_KERNEL_KERNEL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct kernel_symbols;

/* Takes a copy of what is needed; 0, -EBADMSG, -EIO, -ENOMEM. */
int kernel_symbols_new(int fd, struct kernel_symbols **ret_symbols);
void kernel_symbols_free(struct kernel_symbols *symbols);

/* What it keeps in memory. */
size_t kernel_symbols_bytes(const struct kernel_symbols *symbols);

/* Name of the function that covers the offset, NULL when unknown; lives as long as the table. */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint32_t range,
				uint32_t offset, uint32_t *ret_start);
/* "[kernel]" or the module's name in brackets; NULL when there is no such range. */
const char *kernel_symbols_range(const struct kernel_symbols *symbols, uint32_t range);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel symbols, read from /proc/kallsyms and /proc/modules and written without any absolute
 * address into a sealed memfd for the worker: ipc/ksyms_file.h.
 */
#ifndef KEYHOLE_HELPER_KSYMS_H
#define KEYHOLE_HELPER_KSYMS_H

#include <stdint.h>
#include <stdio.h>

#include "bpf/abi.h"

struct ksyms_part {
	struct kernel_range range;
	char name[64];
};

struct ksyms {
	struct ksyms_part parts[KERNEL_RANGES_MAX]; /* [0]: kernel text, then modules by address */
	uint32_t count;
	int fd; /* sealed memfd, owned */
};

/* Gives the parts but the kernel's own range. NULL is an empty file. */
void ksyms_read_modules(struct ksyms *ksyms, FILE *file);

/* All parts, one after another, into an empty file: 0 or a negative errno. */
int ksyms_write_ranges(const struct ksyms *ksyms, int fd);

/* Gives that and the memfd. -EACCES when addresses are hidden: then there are no symbols. */
int ksyms_read_symbols(struct ksyms *ksyms, FILE *file);

#endif

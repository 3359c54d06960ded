/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel symbols, read from /proc/kallsyms and /proc/modules and written without any absolute
 * address into a sealed memfd for the worker: base/ksyms_file.h.
 *
 * BPF programs are in the list of symbols, too, in parts of their own: those that lie close to each
 * other are one. How long a program is is not told. One that is loaded between two others later on
 * is therefore taken for the one before it; one elsewhere is in no part, as is a later module.
 */
#ifndef KEYHOLE_HELPER_KERNEL_SYMBOLS_KERNEL_SYMBOLS_H
#define KEYHOLE_HELPER_KERNEL_SYMBOLS_KERNEL_SYMBOLS_H

#include <stdint.h>
#include <stdio.h>

#include "bpf/abi.h"
#include "base/ksyms_file.h"

struct ksyms_part {
	struct kernel_range range;
	char name[64];
};

struct ksyms {
	struct ksyms_part parts[KERNEL_RANGES_MAX]; /* [0]: kernel text, then by address */
	uint32_t count;
	int fd; /* sealed memfd, owned */
};

#define KSYMS_BPF_GAP_MAX  (64u << 10) /* between the starts of two programs of a part */
#define KSYMS_BPF_LAST_MAX (16u << 10) /* of the last one, whose end nothing tells */

/* Gives the parts but the kernel's own range. NULL is an empty file. */
void ksyms_read_modules(struct ksyms *ksyms, FILE *file);

/* How many there will be at most, once programs of BPF are known: KSYMS_BPF_PARTS_MAX more. */
uint32_t ksyms_room(const struct ksyms *ksyms);

/*
 * All parts, one after another, into an empty file, up to as many as were told: those that are not
 * needed hold no address and come last. 0 or a negative errno.
 */
int ksyms_write_ranges(const struct ksyms *ksyms, uint32_t told, int fd);

/* Gives that, parts with programs of BPF and the memfd. -EACCES when addresses are hidden: then
 * there are no symbols. */
int ksyms_read_symbols(struct ksyms *ksyms, FILE *file);

#endif

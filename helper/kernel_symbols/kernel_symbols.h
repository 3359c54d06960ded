/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads kernel symbols from /proc/kallsyms and /proc/modules, and writes them for the worker into a
 * sealed memfd without any absolute address (base/ksyms_file.h).
 *
 * The list of symbols names BPF programs, too. Programs that lie close to each other make one part.
 * The list gives no sizes: a program that is loaded later between two others is therefore taken for
 * the one before it. A program or module that is loaded later elsewhere is in no part.
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
	struct kernel_range scheduler; /* its text, and that of what sleeps; 0: unknown */
	struct kernel_orc orc;
	int fd; /* sealed memfd, owned */
};

#define KSYMS_BPF_GAP_MAX  (64u << 10) /* bytes between the starts of two programs of a part */
#define KSYMS_BPF_LAST_MAX (16u << 10) /* bytes of a part's last program, whose end is unknown */

/*
 * Adds a part for each module. The range of the kernel itself stays empty. NULL is an empty file.
 */
void ksyms_read_modules(struct ksyms *ksyms, FILE *file);

/*
 * Returns the most parts that there can be, with those of BPF programs: KSYMS_BPF_PARTS_MAX more.
 */
uint32_t ksyms_room(const struct ksyms *ksyms);

/*
 * Writes `told` ranges into an empty file, and behind them the scheduler's and the struct
 * kernel_orc. Ranges beyond the parts hold no address and come last. Returns 0 or a negative errno.
 */
int ksyms_write_ranges(const struct ksyms *ksyms, uint32_t told, int fd);

/*
 * Sets the ranges of the kernel and of its scheduler, the parts of BPF programs, and the memfd.
 * Returns 0 or a negative errno: -EACCES where the kernel hides addresses, so that the memfd has no
 * symbols.
 */
int ksyms_read_symbols(struct ksyms *ksyms, FILE *file);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of kernel functions that BPF programs tell while they sample (bpf/late.bpf.h). The
 * functions are of modules and BPF programs that came after /proc/kallsyms was read. The loader of
 * such code chooses its names.
 */
#ifndef KEYHOLE_WORKER_KERNEL_LATE_NAMES_H
#define KEYHOLE_WORKER_KERNEL_LATE_NAMES_H

#include <stdint.h>

#define LATE_NAMES_MAX	 1024u
#define LATE_MODULES_MAX 32u
#define LATE_NAME_BYTES	 96u /* with the NUL; the kernel cuts longer names */

struct late_names;

struct late_names *late_names_new(void); /* NULL: no memory */
void late_names_free(struct late_names *names);

/* Keeps "function [module]" by id, once. Names beyond the limits and empty names are not kept.
 * Bytes that are not printable become '?'. */
void late_names_add(struct late_names *names, uint64_t id, const char *text);

/* Returns the place of an id, from 0, with the number of its module; or -ENOENT. */
int late_names_find(const struct late_names *names, uint32_t id, uint32_t *ret_module);
/* Returns the function at a place, NULL: none. */
const char *late_names_function(const struct late_names *names, uint64_t place);
/* Returns "[module]" as kernel_symbols_range() does, "[kernel]" for a function without a module, or
 * "[kernel unknown]" for a name that was cut. */
const char *late_names_module(const struct late_names *names, uint32_t module);

#endif

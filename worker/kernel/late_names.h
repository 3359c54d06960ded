/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of kernel functions that the BPF programs tell while they are sampled (bpf/late.bpf.h):
 * those of modules and programs of BPF that came after /proc/kallsyms was read. Whoever loads them
 * chooses their names.
 */
#ifndef KEYHOLE_WORKER_KERNEL_LATE_NAMES_H
#define KEYHOLE_WORKER_KERNEL_LATE_NAMES_H

#include <stdint.h>

#define LATE_NAMES_MAX	 1024u
#define LATE_MODULES_MAX 32u
#define LATE_NAME_BYTES	 96u /* with the NUL, which is also there where the kernel cut a name */

struct late_names;

struct late_names *late_names_new(void); /* NULL: no memory */
void late_names_free(struct late_names *names);

/* "function [module]", by id. Told again it changes nothing; beyond the limits, or empty, it is not
 * kept. What is not printable becomes '?'. */
void late_names_add(struct late_names *names, uint64_t id, const char *text);

/* Place of an id, from 0, and the number of its module; -ENOENT. */
int late_names_find(const struct late_names *names, uint32_t id, uint32_t *ret_module);
/* Of that place, NULL: none. */
const char *late_names_function(const struct late_names *names, uint64_t place);
/* "[module]" as kernel_symbols_range() has it, "[kernel]" where none was told, "[kernel unknown]"
 * where the name was cut before it ended. */
const char *late_names_module(const struct late_names *names, uint32_t module);

#endif

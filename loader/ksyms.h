/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel symbols, read once from /proc/kallsyms and /proc/modules while privileged, and written
 * without any absolute address into a sealed memfd for the worker: ipc/ksyms_file.h.
 */
#ifndef KEYHOLE_LOADER_KSYMS_H
#define KEYHOLE_LOADER_KSYMS_H

#include <stdint.h>
#include <sys/types.h>

#include "bpf/abi.h"

struct ksyms_part {
	uint64_t start, end; /* absolute: for the BPF program's private map only */
	char name[64];
};

struct ksyms {
	struct ksyms_part parts[KERNEL_RANGES_MAX]; /* [0]: kernel text, then modules by address */
	uint32_t count;				    /* known from the start */
	int fd;					    /* memfd, owned; sealed once written */
	pid_t child;
};

/*
 * Goes on in a child, because reading 120,000 symbols takes as long as loading the BPF programs,
 * and what it leaves behind in memory must not stay. *ret_ksyms is shared with it.
 */
int ksyms_start(struct ksyms **ret_ksyms);

/* 0; -EACCES when addresses are hidden (no CAP_SYSLOG): then there are no symbols. */
int ksyms_wait(struct ksyms *ksyms);

/* Unmaps it, and with it the last absolute address. Returns the memfd. */
int ksyms_forget(struct ksyms *ksyms);

/* The two halves of reading; fd is open. A file that does not exist is an empty one. */
void ksyms_read_modules(struct ksyms *ksyms, const char *path);
int ksyms_read_symbols(struct ksyms *ksyms, const char *path);

#endif

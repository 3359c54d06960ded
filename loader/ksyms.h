/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel symbols, read once from /proc/kallsyms and /proc/modules while privileged, and written
 * without any absolute address into a sealed memfd for the worker: ipc/ksyms_file.h.
 */
#ifndef KEYHOLE_LOADER_KSYMS_H
#define KEYHOLE_LOADER_KSYMS_H

#include <stddef.h>
#include <stdint.h>

struct ksyms_range { /* absolute: for the BPF program's private map only */
	uint64_t start, end;
};

struct ksyms {
	struct ksyms_range *ranges; /* sorted; [0] = the kernel's text */
	uint32_t count;		    /* at most KERNEL_RANGES_MAX */
	int fd;			    /* sealed memfd, owned */
};

/* 0; -EACCES when addresses are hidden (no CAP_SYSLOG): no ranges, and fd is an empty table. */
int ksyms_read(struct ksyms *ret_ksyms);
void ksyms_release(struct ksyms *ksyms);

/* The same from texts; they are modified. modules may be empty. */
int ksyms_build(char *kallsyms, size_t kallsyms_size, char *modules, size_t modules_size,
		struct ksyms *ret_ksyms);

#endif

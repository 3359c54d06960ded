/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel symbols: /proc/kallsyms and /proc/modules are opened here while privileged, and read by a
 * process that is not, keyhole-kernel-symbols.
 */
#ifndef KEYHOLE_LOADER_KERNEL_SYMBOLS_H
#define KEYHOLE_LOADER_KERNEL_SYMBOLS_H

#include <stdint.h>
#include <sys/types.h>

#include "bpf/abi.h"
#include "ipc/channel.h"

struct ksyms {
	struct kernel_range ranges[KERNEL_RANGES_MAX]; /* absolute: for BPF's private map only */
	uint32_t count;				       /* known from the start */
	int fd;	   /* for the worker: sealed memfd, see base/ksyms_file.h; owned */
	int known; /* the ranges, once they are; owned */
	pid_t pid;
	struct channel channel;
};

/*
 * Goes on beside us: reading 120,000 symbols takes as long as loading the BPF programs. proc: an
 * instance of procfs that shows kallsyms.
 */
int ksyms_start(struct ksyms *ksyms, int proc);

/* 0; -EACCES when addresses are hidden (no CAP_SYSLOG): then there are no symbols. */
int ksyms_wait(struct ksyms *ksyms);

#endif

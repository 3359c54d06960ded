/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel symbols. The loader opens /proc/kallsyms and /proc/modules while privileged;
 * keyhole-kernel-symbols, which has no rights, reads both files.
 */
#ifndef KEYHOLE_LOADER_KERNEL_SYMBOLS_H
#define KEYHOLE_LOADER_KERNEL_SYMBOLS_H

#include <stdint.h>
#include <sys/types.h>

#include "bpf/abi.h"
#include "ipc/channel.h"

struct ksyms {
	/* absolute, for BPF's private maps only; [count]: the scheduler's, 0: unknown */
	struct kernel_range ranges[KERNEL_RANGES_MAX + 1];
	struct kernel_orc orc; /* likewise */
	uint32_t count;	       /* set by ksyms_start() */
	int fd;		       /* for the worker: sealed memfd, see base/ksyms_file.h; owned */
	int known;	       /* memory that the helper fills with the ranges; owned */
	pid_t pid;
	struct channel channel;
};

/*
 * Starts the helper, which goes on beside the loader: reading 120,000 symbols takes as long as
 * loading the BPF programs. proc: folder of an instance of procfs that shows kallsyms. Returns 0 or
 * a negative errno; with a negative pid, the error was logged.
 */
int ksyms_start(struct ksyms *ksyms, int proc);

/*
 * Waits for the symbols. Returns 0 or a negative errno: -EACCES when the kernel hides addresses (no
 * CAP_SYSLOG), and there are no symbols.
 */
int ksyms_wait(struct ksyms *ksyms);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `keyhole record`, checked as far as it can be without asking the system. */
#ifndef KEYHOLE_LOADER_OPTIONS_H
#define KEYHOLE_LOADER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "ipc/messages.h"

#define OPTIONS_PIDS_MAX      64
#define OPTIONS_FREQUENCY_MAX 10000u

struct options { /* at most one of pids, cgroup and command; otherwise the whole machine */
	pid_t pids[OPTIONS_PIDS_MAX];
	unsigned int pid_count;
	const char *cgroup;
	char **command; /* NULL terminated, in the caller's argv */
	unsigned int frequency;
	uint64_t duration;  /* ns, 0 = until stopped */
	const char *output; /* "-" for standard output */
	enum profile_format format;
	uint32_t require; /* layers of confinement, bits of policy/layers.def */
	bool all, force, by_thread, verbose, help;
};

/* 0, or -EINVAL after one line on standard error. argv[0] is "record". */
int options_parse(int argc, char **argv, struct options *ret_options);

int options_usage(FILE *stream); /* 0, or 1: not written */

#endif

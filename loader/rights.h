/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the recording can be made at all, asked before anything is started. Each refusal is one
 * line on standard error with the command that mends it.
 */
#ifndef KEYHOLE_LOADER_RIGHTS_H
#define KEYHOLE_LOADER_RIGHTS_H

#include "loader/options.h"

/* What the checks opened, so that it is what they checked; until the end of the process. */
struct rights_targets {
	int pidfds[OPTIONS_PIDS_MAX]; /* options.pid_count of them */
	int cgroup;		      /* directory, or -1 */
};

/* 0, or -EPERM: rights or kernel features are missing. */
int rights_check(void);

/* 0, or -EINVAL: a process or cgroup is not there. */
int rights_open_targets(const struct options *options, struct rights_targets *ret_targets);

#endif

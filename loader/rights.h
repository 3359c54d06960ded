/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the recording can be made at all, asked before anything is started. Each refusal is one
 * line on standard error with the command that mends it.
 */
#ifndef KEYHOLE_LOADER_RIGHTS_H
#define KEYHOLE_LOADER_RIGHTS_H

#include <sys/types.h>

/* 0, or -EPERM: rights or kernel features are missing. */
int rights_check(void);

/* What is profiled, opened so that it is what was checked: a pidfd or directory, or negative. */
int rights_open_pid(pid_t pid);
int rights_open_cgroup(const char *path);

#endif

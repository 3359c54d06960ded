/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the path of a cgroup out of a struct event_cgroup. Users choose the names. */
#ifndef KEYHOLE_WORKER_SAMPLE_CGROUP_PATH_H
#define KEYHOLE_WORKER_SAMPLE_CGROUP_PATH_H

#include <stddef.h>

#include "bpf/abi.h"

#define CGROUP_CUT "..." /* stands for the end of a long name, and for the cgroups above */
/* Room for every path: before each name a slash, behind each CGROUP_CUT, one of these in front. */
#define CGROUP_PATH_BYTES ((CGROUP_LEVELS + 1) * (CGROUP_NAME_BYTES + sizeof(CGROUP_CUT)))

/*
 * Joins the names to a raw path: "/" is the root. bytes: those of the record behind struct event. A
 * name that fills its field ends in CGROUP_CUT. Returns 0, or -EBADMSG with an empty path, as for a
 * name that the kernel could not read.
 */
int cgroup_path_read(const void *bytes, size_t size, char ret_path[CGROUP_PATH_BYTES]);

#endif

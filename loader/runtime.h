/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of the profiled tasks, from which the number of samples to expect follows. */
#ifndef KEYHOLE_LOADER_RUNTIME_H
#define KEYHOLE_LOADER_RUNTIME_H

#include <stdint.h>

struct runtime {
	int readings[2];   /* of the task iterator: before and after */
	int cpu_stat;	   /* of the cgroup, or -1 */
	uint64_t baseline; /* ns at the start */
};

/* Opens all while there are rights to. link: of the iterator; cgroup: directory or -1. */
int runtime_open(struct runtime *runtime, int link, int cgroup);

/* exited: counters.exited_runtime at this moment. Return 0 or a negative errno. */
int runtime_begin(struct runtime *runtime, uint64_t exited);
int runtime_end(struct runtime *runtime, uint64_t exited, uint64_t *ret_nanoseconds);

#endif

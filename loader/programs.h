/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF programs and maps: sized, filled, loaded and attached, all while privileged. */
#ifndef KEYHOLE_LOADER_PROGRAMS_H
#define KEYHOLE_LOADER_PROGRAMS_H

#include <stdint.h>
#include <sys/types.h>

#include "bpf/abi.h"
#include "loader/ksyms.h"
#include "loader/options.h"

#define PROGRAMS_SEGMENTS 2 /* attached at start: one in use, one spare */

struct sample_bpf;

struct programs {
	struct sample_bpf *skeleton;
	const struct counters *counters; /* cpus rows, mapped */
	uint32_t cpus, ring_bytes;
	int segments[PROGRAMS_SEGMENTS];
	int rings, tails, processes, events, segment_map; /* maps, borrowed */
	int sampler, task_iterator;			  /* program and link, borrowed */
};

/* cgroup: directory or -1; command: process to profile or 0. Returns 0 or a negative errno. */
int programs_load(struct programs *programs, const struct options *options,
		  const struct ksyms *ksyms, int cgroup, pid_t command);

struct counters programs_counters(const struct programs *programs);

/* Bytes of a ring at this rate: a power of two. */
uint32_t programs_ring_bytes(uint32_t frequency);

#endif

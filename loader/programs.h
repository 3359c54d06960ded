/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF programs and maps: sized, filled, loaded and attached, all while privileged. */
#ifndef KEYHOLE_LOADER_PROGRAMS_H
#define KEYHOLE_LOADER_PROGRAMS_H

#include <stdint.h>
#include <sys/types.h>

#include "bpf/abi.h"
#include "ipc/messages.h"
#include "loader/kernel_symbols.h"
#include "loader/options.h"
#include "loader/rules.h"

#define PROGRAMS_SEGMENTS 2 /* attached at start: one in use, one spare */

struct walk_loop_bpf;

struct programs {
	struct walk_loop_bpf *skeleton;
	uint32_t cpus, ring_bytes;
	int segments[PROGRAMS_SEGMENTS];
	int maps[DESCRIPTOR_EVENTS + 1]; /* for the worker, by enum descriptor_kind; borrowed */
	int segment_map, process_map, sampler; /* borrowed */
	int counts[COUNTS_DESCRIPTORS]; /* for keyhole-output, see COUNTS; the first is borrowed */
};

/*
 * cgroup: directory or -1; command: process to profile or 0. ksyms is still being read and waited
 * for when it is needed. Returns 0 or a negative errno.
 */
int programs_load(struct programs *programs, const struct options *options,
		  const struct rules *rules, struct ksyms *ksyms, int cgroup, pid_t command);

/* While no event is enabled: what another worker wrote is distrusted from here on. */
void programs_begin_epoch(struct programs *programs, uint32_t epoch);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF programs and maps. The privileged loader sizes, loads, fills and attaches all of them. */
#ifndef KEYHOLE_LOADER_PROGRAMS_H
#define KEYHOLE_LOADER_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/abi.h"
#include "ipc/messages.h"
#include "loader/accounts.h"
#include "loader/kernel_symbols.h"
#include "loader/off_cpu.h"
#include "loader/options.h"
#include "loader/rules.h"

#define PROGRAMS_SEGMENTS 2 /* attached at start: one in use, one spare */

struct walk_loop_bpf;

struct programs {
	struct walk_loop_bpf *skeleton;
	uint32_t cpus, ring_bytes;
	int segments[PROGRAMS_SEGMENTS];
	int maps[DESCRIPTOR_EVENTS + 1]; /* for the worker, by enum descriptor_kind; borrowed */
	int segment_map, process_map, grant_map, sampler; /* borrowed */
	struct accounts accounts; /* with OPTIONS_STAT, its program takes the sampler's place */
	struct off_cpu off_cpu;	  /* with OPTIONS_OFF_CPU */
	/* For keyhole-output, by enum counts_descriptor; those of maps are borrowed. */
	int counts[COUNTS_DESCRIPTORS];
	uint64_t map_bytes; /* kernel memory of the maps, as the kernel tells, without segments */
	uint32_t rules;	    /* in counts[COUNTS_RULES]; 0: there is none */
};

/* Returns which samples the options ask for: enum off_mode. */
uint32_t programs_off_mode(const struct options *options);

/*
 * Loads and attaches everything but the sampler. ksyms: symbols that are still being read; the
 * function waits for their ranges, and takes rules->keys. cgroup: directory or -1; command: process
 * to profile or 0. Returns 0 or a negative errno.
 */
int programs_load(struct programs *programs, const struct options *options,
		  const struct rules *rules, struct ksyms *ksyms, int cgroup, pid_t command);

/*
 * Begins the life of a new worker, while no event is enabled and off_cpu rests. From here on BPF
 * distrusts what an earlier worker wrote.
 */
void programs_begin_epoch(struct programs *programs, uint32_t epoch);

/* Has BPF leave samples out, and count them as filtered, or take them again. */
void programs_rest(struct programs *programs, bool resting);

/* Stops sampling for good. Returns how many samples still wait for their process to be known. */
uint32_t programs_drain(struct programs *programs);

#endif

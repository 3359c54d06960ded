/* SPDX-License-Identifier: Apache-2.0 */
/* The programs that draw threads off their CPU (bpf/off_cpu.bpf.c), beside the sampler's. */
#ifndef KEYHOLE_LOADER_OFF_CPU_H
#define KEYHOLE_LOADER_OFF_CPU_H

#include <stdbool.h>
#include <stdint.h>

struct off_cpu_bpf;
struct walk_loop_bpf;

struct off_cpu {
	struct off_cpu_bpf *skeleton; /* NULL: not asked for, and all functions do nothing */
	uint64_t map_bytes;
};

/*
 * Loads and attaches the programs. sampler: loaded and attached. frequency: stacks a second that a
 * thread has at most, on average. Returns 0 or a negative errno.
 */
int off_cpu_load(struct off_cpu *off_cpu, const struct walk_loop_bpf *sampler, uint32_t frequency);
void off_cpu_begin(const struct off_cpu *off_cpu); /* begins the draw */
/* Says whether the sampler takes no stacks for some time: none is drawn then. */
void off_cpu_rest(const struct off_cpu *off_cpu, bool resting);
void off_cpu_end(const struct off_cpu *off_cpu); /* ends it */
void off_cpu_begin_epoch(const struct off_cpu *off_cpu, uint32_t epoch);

#endif

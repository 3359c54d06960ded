/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/off_cpu.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "bpf/abi.h"
#include "bpf/off_cpu.skel.h"
#include "bpf/walk_loop.skel.h"
#include "ipc/time.h"
#include "loader/map_memory.h"
#include "loader/map_share.h"

/*
 * All stacks together may take 1 % of one CPU. Their cost varies from window to window, and
 * `spent` does not count threads that run again. So 0.6 % is left to the stacks.
 */
#define BUDGET_PART    6u
#define BUDGET_PARTS   1000u
#define WINDOW_NS      100000000ull
#define CPUS_OF_WINDOW 8u /* more CPUs have a longer window: a budget is worth several stacks */

static struct off_limits limits_of(uint32_t frequency, uint32_t cpus)
{
	struct off_limits limits = {.interval = NS_PER_SECOND / frequency, .window = WINDOW_NS};

	if (cpus > CPUS_OF_WINDOW)
		limits.window = WINDOW_NS / CPUS_OF_WINDOW * cpus;
	limits.budget = limits.window * BUDGET_PART / BUDGET_PARTS / cpus;
	return limits;
}

static void set_constants(struct off_cpu_bpf *own, const struct walk_loop_bpf *sampler,
			  uint32_t frequency)
{
	own->rodata->cpu_count = sampler->rodata->cpu_count;
	own->rodata->newer_helpers = sampler->rodata->newer_helpers;
	own->rodata->filter_mode = sampler->rodata->filter_mode;
	own->rodata->deny_kinds = sampler->rodata->deny_kinds;
	own->rodata->off_limits = limits_of(frequency, sampler->rodata->cpu_count);
}

static int set_sampler(const struct off_cpu_bpf *own, const struct walk_loop_bpf *sampler)
{
	const int program = bpf_program__fd(sampler->progs.on_leave);
	const int map = bpf_map__fd(own->maps.sampler);
	const uint32_t first = 0;
	int r = bpf_map_update_elem(map, &first, &program, BPF_ANY);

	if (r)
		return r;
	return bpf_map_freeze(map);
}

int off_cpu_load(struct off_cpu *off_cpu, const struct walk_loop_bpf *sampler, uint32_t frequency)
{
	struct off_cpu_bpf *own = off_cpu_bpf__open();
	int r;

	if (!own)
		return -errno;
	off_cpu->skeleton = own;
	r = map_share(own->obj, sampler->obj);
	if (r)
		return r;
	set_constants(own, sampler, frequency);
	r = off_cpu_bpf__load(own);
	if (r)
		return r;
	r = set_sampler(own, sampler);
	if (r)
		return r;
	off_cpu->map_bytes = map_memory_sum(own->obj);
	return off_cpu_bpf__attach(own);
}

void off_cpu_begin(const struct off_cpu *off_cpu)
{
	if (off_cpu->skeleton)
		off_cpu->skeleton->bss->drawing = 1;
}

void off_cpu_rest(const struct off_cpu *off_cpu, bool resting)
{
	if (off_cpu->skeleton)
		off_cpu->skeleton->bss->resting = resting;
}

void off_cpu_end(const struct off_cpu *off_cpu)
{
	if (off_cpu->skeleton)
		off_cpu->skeleton->bss->drawing = 0;
}

void off_cpu_begin_epoch(const struct off_cpu *off_cpu, uint32_t epoch)
{
	if (off_cpu->skeleton)
		off_cpu->skeleton->bss->worker_epoch = epoch;
}

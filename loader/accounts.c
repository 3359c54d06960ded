/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/accounts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "bpf/sched.skel.h"
#include "bpf/walk_loop.skel.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "ipc/time.h"
#include "loader/map_memory.h"
#include "loader/map_share.h"

static void set_constants(struct sched_bpf *own, const struct walk_loop_bpf *sampler)
{
	own->rodata->cpu_count = sampler->rodata->cpu_count;
	own->rodata->filter_mode = sampler->rodata->filter_mode;
	own->rodata->deny_kinds = sampler->rodata->deny_kinds;
	own->rodata->sample_filter = sampler->rodata->sample_filter;
}

/* Frees the places behind those that the CPUs have. */
static int fill_places(const struct sched_bpf *own)
{
	const int queue = bpf_map__fd(own->maps.account_places);
	uint32_t place = ACCOUNT_PLACE(own->rodata->cpu_count, ACCOUNT_IDLE);
	int r = 0;

	for (; place < ACCOUNTS && r == 0; place++)
		r = bpf_map_update_elem(queue, NULL, &place, BPF_ANY);
	return r;
}

static int take_maps(struct accounts *accounts)
{
	const struct sched_bpf *own = accounts->skeleton;
	int r;

	accounts->places = bpf_map__fd(own->maps.accounts);
	accounts->cpus = bpf_map__fd(own->maps.account_cpus);
	accounts->tick = bpf_program__fd(own->progs.on_tick);
	accounts->map_bytes = map_memory_sum(own->obj);
	/* only BPF goes on writing */
	r = bpf_map_freeze(accounts->places);
	if (r)
		return r;
	return bpf_map_freeze(accounts->cpus);
}

static const struct {
	const char *name;
	struct perf_event_attr attr;
} counters[] = {
#define C(name, kind, what) {#name, {.type = PERF_TYPE_##kind, .config = PERF_COUNT_##what}},
#include "bpf/account_counters.def"
#undef C
};

/* Opens a counter of a CPU. The map keeps the event, which needs no descriptor then. */
static int open_counter(int map, uint32_t cpu, uint32_t counter)
{
	struct perf_event_attr attr = counters[counter].attr;
	const uint32_t place = cpu * ACCOUNT_COUNTERS + counter;
	guard_fd int fd = -1;

	attr.size = sizeof(attr);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	return bpf_map_update_elem(map, &place, &fd, BPF_ANY);
}

/* A counter that a CPU lacks is absent from the tables. */
static void open_counters(const struct sched_bpf *own)
{
	const int map = bpf_map__fd(own->maps.account_counters);

	for (uint32_t i = 0; i < ACCOUNT_COUNTERS; i++) {
		int r = 0;

		for (uint32_t cpu = 0; cpu < own->rodata->cpu_count && r == 0; cpu++)
			r = open_counter(map, cpu, i);
		if (r == 0 || r == -ENODEV)
			own->bss->counters_there |= 1u << i;
		if (r && r != -ENODEV) /* not online */
			log_info("counters: %s: %s", counters[i].name, strerror(-r));
	}
}

/* Programs of these tracepoints have the helpers of raw ones, which libbpf can probe. */
static bool can_read_counters(void)
{
	if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_FUNC_perf_event_read_value,
				    NULL) == 1)
		return true;
	log_warning("counters: programs of this kernel cannot read them");
	return false;
}

static int prepare(struct sched_bpf *own, const struct walk_loop_bpf *sampler, bool counts)
{
	int r = map_share(own->obj, sampler->obj);

	if (r)
		return r;
	set_constants(own, sampler);
	own->rodata->counted = counts && can_read_counters();
	r = bpf_map__set_max_entries(own->maps.account_cpus, own->rodata->cpu_count);
	if (r == 0)
		r = bpf_map__set_max_entries(own->maps.account_near, own->rodata->cpu_count);
	if (r)
		return r;
	r = bpf_map__set_max_entries(own->maps.account_counters,
				     own->rodata->cpu_count * ACCOUNT_COUNTERS);
	if (r)
		return r;
	r = sched_bpf__load(own);
	if (r)
		return r;
	if (own->rodata->counted)
		open_counters(own);
	return fill_places(own);
}

int accounts_load(struct accounts *accounts, const struct walk_loop_bpf *sampler, bool wanted)
{
	int r;

	accounts->skeleton = sched_bpf__open();
	if (!accounts->skeleton)
		return -errno;
	r = prepare(accounts->skeleton, sampler, wanted);
	if (r)
		return r;
	r = take_maps(accounts);
	if (r)
		return r;
	return sched_bpf__attach(accounts->skeleton);
}

void accounts_begin(const struct accounts *accounts)
{
	if (accounts->skeleton)
		accounts->skeleton->bss->counting_from = time_now();
}

void accounts_begin_epoch(const struct accounts *accounts, uint32_t epoch)
{
	if (accounts->skeleton)
		accounts->skeleton->bss->worker_epoch = epoch;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "bpf/sample.skel.h"
#include "ipc/log.h"

#define RECORD_BYTES_USUAL 512u
#define FILTER_ALL	   0u
#define FILTER_TARGETS	   1u
#define FILTER_CGROUP	   2u

static int print_debug(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char line[512];
	int length = vsnprintf(line, sizeof(line), format, arguments);

	if (level != LIBBPF_DEBUG && length > 0 && (size_t)length < sizeof(line))
		log_debug("libbpf: %.*s", length - (line[length - 1] == '\n'), line);
	return 0;
}

uint32_t programs_ring_bytes(uint32_t frequency)
{
	uint32_t bytes = RING_BYTES_MIN;

	while (bytes < RING_BYTES_MAX && bytes < frequency * RECORD_BYTES_USUAL)
		bytes *= 2;
	return bytes;
}

static int size_maps(struct programs *programs)
{
	struct sample_bpf *skeleton = programs->skeleton;
	LIBBPF_OPTS(bpf_map_create_opts, mmapable, .map_flags = BPF_F_MMAPABLE);
	int r;

	for (int i = 0; i < PROGRAMS_SEGMENTS; i++) {
		programs->segments[i] = bpf_map_create(BPF_MAP_TYPE_ARRAY, "segment", sizeof(u32),
						       SEGMENT_BYTES, 1, &mmapable);
		if (programs->segments[i] < 0)
			return programs->segments[i];
	}
	r = bpf_map__set_inner_map_fd(skeleton->maps.segments, programs->segments[0]);
	r = r ? r : bpf_map__set_value_size(skeleton->maps.rings, programs->ring_bytes);
	r = r ? r : bpf_map__set_max_entries(skeleton->maps.rings, programs->cpus);
	return r ? r : bpf_map__set_max_entries(skeleton->maps.counters, programs->cpus);
}

static int set_constants(struct programs *programs, const struct options *options,
			 const struct ksyms *ksyms)
{
	static const uint32_t modes[] = {[TARGET_DEFAULT] = FILTER_ALL,
					 [TARGET_ALL] = FILTER_ALL,
					 [TARGET_PIDS] = FILTER_TARGETS,
					 [TARGET_CGROUP] = FILTER_CGROUP,
					 [TARGET_COMMAND] = FILTER_TARGETS};
	struct sample_bpf__rodata *constants = programs->skeleton->rodata;
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -errno;
	constants->cache_multiplier = random | 1;
	constants->cpu_count = programs->cpus;
	constants->ring_bytes = programs->ring_bytes;
	constants->kernel_range_count = ksyms->count;
	constants->filter_mode = modes[options->target];
	return 0;
}

static int put(const struct bpf_map *map, uint32_t key, const void *value)
{
	return bpf_map_update_elem(bpf_map__fd(map), &key, value, BPF_ANY);
}

static int fill_maps(struct programs *programs, const struct options *options,
		     const struct ksyms *ksyms, int cgroup, pid_t command)
{
	struct sample_bpf *skeleton = programs->skeleton;
	const uint32_t yes = 1;
	int r = 0;

	for (uint32_t i = 0; !r && i < PROGRAMS_SEGMENTS; i++)
		r = put(skeleton->maps.segments, i, &programs->segments[i]);
	for (uint32_t i = 0; !r && i < ksyms->count; i++)
		r = put(skeleton->maps.kernel_ranges, i, &ksyms->ranges[i]);
	for (uint32_t i = 0; !r && i < options->pid_count; i++)
		r = put(skeleton->maps.targets, (uint32_t)options->pids[i], &yes);
	if (!r && command)
		r = put(skeleton->maps.targets, (uint32_t)command, &yes);
	if (!r && cgroup >= 0)
		r = put(skeleton->maps.cgroup_filter, 0, &cgroup);
	return r;
}

static int attach(struct programs *programs)
{
	struct sample_bpf *skeleton = programs->skeleton;
	struct bpf_program *hooks[] = {skeleton->progs.on_fork, skeleton->progs.on_exec,
				       skeleton->progs.on_exit, skeleton->progs.on_task};
	struct bpf_link **links[] = {&skeleton->links.on_fork, &skeleton->links.on_exec,
				     &skeleton->links.on_exit, &skeleton->links.on_task};

	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		*links[i] = bpf_program__attach(hooks[i]);
		if (!*links[i])
			return -errno;
	}
	programs->task_iterator = bpf_link__fd(skeleton->links.on_task);
	programs->sampler = bpf_program__fd(skeleton->progs.on_sample);
	programs->rings = bpf_map__fd(skeleton->maps.rings);
	programs->tails = bpf_map__fd(skeleton->maps.tails);
	programs->processes = bpf_map__fd(skeleton->maps.processes);
	programs->events = bpf_map__fd(skeleton->maps.events);
	programs->segment_map = bpf_map__fd(skeleton->maps.segments);
	return 0;
}

static int map_counters(struct programs *programs)
{
	void *memory = mmap(NULL, programs->cpus * sizeof(struct counters), PROT_READ, MAP_SHARED,
			    bpf_map__fd(programs->skeleton->maps.counters), 0);

	if (memory == MAP_FAILED)
		return -errno;
	programs->counters = memory;
	return 0;
}

int programs_load(struct programs *programs, const struct options *options,
		  const struct ksyms *ksyms, int cgroup, pid_t command)
{
	int cpus = libbpf_num_possible_cpus(), r;

	if (cpus <= 0 || cpus > (int)ABI_MAX_CPUS)
		return cpus < 0 ? cpus : -E2BIG;
	libbpf_set_print(print_debug);
	programs->cpus = (uint32_t)cpus;
	programs->ring_bytes = programs_ring_bytes(options->frequency);
	programs->skeleton = sample_bpf__open();
	if (!programs->skeleton)
		return -errno;
	r = size_maps(programs);
	r = r ? r : set_constants(programs, options, ksyms);
	r = r ? r : sample_bpf__load(programs->skeleton);
	r = r ? r : fill_maps(programs, options, ksyms, cgroup, command);
	r = r ? r : map_counters(programs);
	return r ? r : attach(programs);
}

/* A row is an array of words, all of them sums. */
struct counters programs_counters(const struct programs *programs)
{
	union {
		struct counters counters;
		u64 word[sizeof(struct counters) / sizeof(u64)];
	} sum = {0};

	for (uint32_t cpu = 0; cpu < programs->cpus; cpu++) {
		const volatile u64 *row = (const volatile u64 *)&programs->counters[cpu];

		for (size_t i = 0; i < sizeof(sum.word) / sizeof(sum.word[0]); i++)
			sum.word[i] += row[i];
	}
	return sum.counters;
}

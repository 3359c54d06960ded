/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/walk_for.skel.h"
#include "bpf/walk_loop.skel.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "ipc/time.h"
#include "loader/map_memory.h"

#define RECORD_BYTES_USUAL 512u
#define OFF_WAITS_MAX	   16384u
#define COLD_FREQUENCY_MAX 1000u /* Hz; faster sampling gets no walk_extension_ns */

/* ---- what the running kernel offers -------------------------------------------------------- */

/* Helpers of bpf/kernel_loop.bpf.h, and what bpf/kernel_for.bpf.h does without each. */
static const struct {
	enum bpf_func_id helper;
	const char *name, *instead;
} newer[] = {
	{BPF_FUNC_loop, "bpf_loop (5.17)", "frames are walked by a bounded loop"},
	{BPF_FUNC_find_vma, "bpf_find_vma (5.17)", "areas are looked up without their lock"},
	{BPF_FUNC_task_pt_regs, "bpf_task_pt_regs (5.15)", "registers are found by their place"},
	{BPF_FUNC_get_current_task_btf, "bpf_get_current_task_btf (5.11)",
	 "tasks are read by copy"},
};

static bool lacks(enum bpf_func_id helper)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, helper, NULL) == 0;
}

/* Probes whether the object for new kernels can be loaded; never infers that from a version. */
static bool have_callbacks(void)
{
	bool all = true;

	for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++) {
		if (!lacks(newer[i].helper))
			continue;
		log_info("kernel: %s: missing, %s", newer[i].name, newer[i].instead);
		all = false;
	}
	return all;
}

/* ---- sizes and contents -------------------------------------------------------------------- */

/* Returns the bytes of a ring for this rate in Hz: a power of two. */
static uint32_t size_of_ring(uint32_t frequency)
{
	uint32_t bytes = RING_BYTES_MIN;

	while (bytes < RING_BYTES_MAX && bytes < frequency * RECORD_BYTES_USUAL)
		bytes *= 2;
	return bytes;
}

static int create_segments(struct programs *programs)
{
	LIBBPF_OPTS(bpf_map_create_opts, mmapable, .map_flags = BPF_F_MMAPABLE);

	for (int i = 0; i < PROGRAMS_SEGMENTS; i++) {
		programs->segments[i] = bpf_map_create(BPF_MAP_TYPE_ARRAY, "segment", sizeof(u32),
						       SEGMENT_BYTES, 1, &mmapable);
		if (programs->segments[i] < 0)
			return programs->segments[i];
	}
	return 0;
}

/* Returns how many samples of a CPU may wait at a time: those of 100 ms, within bounds. */
static uint32_t slots_for_kept(uint32_t frequency)
{
	const uint32_t slots = frequency / 10;

	if (slots < KEPT_SLOTS_MIN)
		return KEPT_SLOTS_MIN;
	if (slots > KEPT_SLOTS_MAX)
		return KEPT_SLOTS_MAX;
	return slots;
}

static int size_kept(struct programs *programs)
{
	const struct walk_loop_bpf *skeleton = programs->skeleton;
	const uint32_t slots = programs->cpus * skeleton->rodata->kept_slots;
	int r = bpf_map__set_max_entries(skeleton->maps.kept, slots);

	if (r)
		return r;
	return bpf_map__set_max_entries(skeleton->maps.kept_queue, slots);
}

/* Threads off their CPU need room where these are asked for. */
static int size_waits(struct programs *programs, uint32_t mode)
{
	const struct walk_loop_bpf *skeleton = programs->skeleton;
	int r;

	if (mode == OFF_MODE_NONE)
		return 0;
	r = bpf_map__set_max_entries(skeleton->maps.off_waits, OFF_WAITS_MAX);
	if (r)
		return r;
	return bpf_map__set_max_entries(skeleton->maps.off_cpus, programs->cpus);
}

static int size_maps(struct programs *programs)
{
	struct walk_loop_bpf *skeleton = programs->skeleton;
	int r = create_segments(programs);

	if (r)
		return r;
	r = bpf_map__set_inner_map_fd(skeleton->maps.segments, programs->segments[0]);
	if (r)
		return r;
	r = bpf_map__set_value_size(skeleton->maps.rings, programs->ring_bytes);
	if (r)
		return r;
	r = bpf_map__set_max_entries(skeleton->maps.rings, programs->cpus);
	if (r)
		return r;
	return bpf_map__set_max_entries(skeleton->maps.counters, programs->cpus);
}

/* Numbers the rules from 1 on. Returns how many there are, or a negative errno. */
static int copy_rules(int map, int file)
{
	struct deny_key keys[DENY_KEYS_MAX];
	const int count = rules_read_keys(file, keys);

	for (int i = 0; i < count; i++) {
		const uint32_t number = (uint32_t)i + 1;
		int r = bpf_map_update_elem(map, &keys[i], &number, BPF_ANY);

		if (r)
			return r;
	}
	return count;
}

/* Fills in the deny rules before anything is attached. Nobody, the loader neither, can add more. */
static int fill_rules(struct programs *programs, const struct rules *rules)
{
	int map = bpf_map__fd(programs->skeleton->maps.deny_rules);
	int r = copy_rules(map, rules->keys);

	if (r < 0)
		return r;
	programs->rules = (uint32_t)r;
	programs->counts[COUNTS_RULES] = rules->keys;
	return bpf_map_freeze(map);
}

static enum filter_mode choose_filter(const struct options *options)
{
	if (options->given.pid_count || options->command)
		return FILTER_TARGETS;
	if (options->cgroup)
		return FILTER_CGROUP;
	return FILTER_ALL;
}

uint32_t programs_off_mode(const struct options *options)
{
	if (options->given.flags & OPTIONS_WALL)
		return OFF_MODE_WALL;
	if (options->given.flags & OPTIONS_OFF_CPU)
		return OFF_MODE_ONLY;
	return OFF_MODE_NONE;
}

static void set_constants(struct programs *programs, const struct options *options,
			  const struct rules *rules, uint32_t ranges)
{
	struct walk_loop_bpf__rodata *constants = programs->skeleton->rodata;
	const struct message_sampling *sampling = &options->given.sampling;
	uint64_t random;

	arc4random_buf(&random, sizeof(random));
	constants->cache_multiplier = random | 1;
	constants->cpu_count = programs->cpus;
	constants->ring_bytes = programs->ring_bytes;
	constants->kernel_range_count = ranges;
	constants->kept_slots = slots_for_kept(sampling->frequency);
	constants->sample_interval_ns = 0;
	if (sampling->period)
		constants->sample_interval_ns = NS_PER_SECOND / sampling->frequency;
	memcpy(&constants->sample_filter, options->given.filter, sizeof(options->given.filter));
	constants->deny_kinds = rules->said.kinds | constants->sample_filter.excludes;
	constants->go_stacks = !rules->said.no_go_stacks;
	constants->off_cpu = programs_off_mode(options);
	constants->go_labels = (options->given.flags & OPTIONS_GO_LABELS) != 0;
	if (sampling->frequency > COLD_FREQUENCY_MAX)
		constants->walk_extension_ns = 0;
	constants->filter_mode = choose_filter(options);
}

static int put(const struct bpf_map *map, uint32_t key, const void *value)
{
	return bpf_map_update_elem(bpf_map__fd(map), &key, value, BPF_ANY);
}

static int fill_segments(const struct programs *programs)
{
	const struct bpf_map *map = programs->skeleton->maps.segments;

	for (uint32_t i = 0; i < PROGRAMS_SEGMENTS; i++) {
		int r = put(map, i, &programs->segments[i]);

		if (r)
			return r;
	}
	return 0;
}

/* A process in both lists is excluded. */
static int fill_targets(const struct bpf_map *map, const struct message_options *given,
			pid_t command)
{
	const uint32_t sampled = TARGET_SAMPLED;
	const uint32_t excluded = TARGET_EXCLUDED;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < given->pid_count; i++)
		r = put(map, given->pids[i], &sampled);
	for (uint32_t i = 0; r == 0 && i < given->excluded_count; i++)
		r = put(map, given->excluded_pids[i], &excluded);
	if (r)
		return r;
	if (!command)
		return 0;
	return put(map, (uint32_t)command, &sampled);
}

static int fill_maps(const struct programs *programs, const struct options *options, int cgroup,
		     pid_t command)
{
	const struct walk_loop_bpf *skeleton = programs->skeleton;
	int r = fill_segments(programs);

	if (r)
		return r;
	r = fill_targets(skeleton->maps.targets, &options->given, command);
	if (r)
		return r;
	if (cgroup < 0)
		return 0;
	return put(skeleton->maps.cgroup_filter, 0, &cgroup);
}

static int fill_kernel_ranges(const struct programs *programs, struct ksyms *ksyms)
{
	int r = ksyms_wait(ksyms);

	if (r == -EACCES)
		log_warning("ksyms: /proc/kallsyms: addresses hidden, kernel frames have no names; "
			    "run: sudo sysctl kernel.kptr_restrict=1");
	else if (r)
		return r;
	for (uint32_t i = 0; i < ksyms->count; i++) {
		r = put(programs->skeleton->maps.kernel_ranges, i, &ksyms->ranges[i]);
		if (r)
			return r;
	}
	r = put(programs->skeleton->maps.orc_places, 0, &ksyms->orc);
	if (r)
		return r;
	return put(programs->skeleton->maps.kernel_ranges, KERNEL_RANGES_MAX,
		   &ksyms->ranges[ksyms->count]);
}

/*
 * Reads the iterator once: the read has the deny rules judge the processes that run already. So no
 * later reader decides when that happens.
 */
static int judge_processes(int link)
{
	guard_fd int judge = bpf_iter_create(link);
	struct task_runtime runtime;

	if (judge < 0)
		return judge;
	if (read(judge, &runtime, sizeof(runtime)) != sizeof(runtime))
		return -EIO;
	return 0;
}

/* Opens, while there are rights to, the CPU time of the profiled tasks, both alive and gone. */
static int open_readings(struct programs *programs, int cgroup)
{
	const int link = bpf_link__fd(programs->skeleton->links.on_task);
	int r = 0;

	if (cgroup < 0)
		r = judge_processes(link);
	if (r)
		return r;
	for (int i = COUNTS_BEFORE; i <= COUNTS_AFTER; i++) {
		if (cgroup < 0)
			programs->counts[i] = bpf_iter_create(link);
		else
			programs->counts[i] = openat(cgroup, "cpu.stat", O_RDONLY | O_CLOEXEC);
		if (programs->counts[i] < 0)
			return -errno;
	}
	return 0;
}

static int take_maps(struct programs *programs)
{
	const struct walk_loop_bpf *skeleton = programs->skeleton;
	int r;

	programs->maps[DESCRIPTOR_RINGS] = bpf_map__fd(skeleton->maps.rings);
	programs->maps[DESCRIPTOR_TAILS] = bpf_map__fd(skeleton->maps.tails);
	programs->maps[DESCRIPTOR_PROCESSES] = bpf_map__fd(skeleton->maps.processes);
	programs->maps[DESCRIPTOR_EVENTS] = bpf_map__fd(skeleton->maps.events);
	programs->segment_map = bpf_map__fd(skeleton->maps.segments);
	programs->process_map = bpf_map__fd(skeleton->maps.generations);
	programs->grant_map = bpf_map__fd(skeleton->maps.grants);
	programs->sampler = bpf_program__fd(skeleton->progs.on_sample);
	programs->counts[COUNTS_COUNTERS] = bpf_map__fd(skeleton->maps.counters);
	programs->counts[COUNTS_DENIED] = bpf_map__fd(skeleton->maps.denied_samples);
	/* only BPF goes on writing */
	r = bpf_map_freeze(programs->counts[COUNTS_COUNTERS]);
	if (r)
		return r;
	return bpf_map_freeze(programs->counts[COUNTS_DENIED]);
}

_Static_assert(sizeof(struct walk_for_bpf__rodata) == sizeof(struct walk_loop_bpf__rodata),
	       "both objects have the same programs, maps and constants");

/* Returns NEWER_*: helpers that walk_for uses where they are. old: the kernel lacks bpf_loop(). */
static uint32_t find_newer_helpers(bool old)
{
	uint32_t found = 0;

	if (!old) /* bpf_loop() came after them */
		return NEWER_TASK_PT_REGS | NEWER_SNPRINTF;
	if (!lacks(BPF_FUNC_task_pt_regs) && !lacks(BPF_FUNC_get_current_task_btf))
		found |= NEWER_TASK_PT_REGS;
	if (!lacks(BPF_FUNC_snprintf))
		found |= NEWER_SNPRINTF;
	return found;
}

/* Opens the object that fits the kernel. The skeleton of one object describes both. */
static int open_object(struct programs *programs)
{
	struct walk_loop_bpf *object = calloc(1, sizeof(*object));
	struct bpf_object_skeleton *skeleton;

	if (!object || walk_loop_bpf__create_skeleton(object))
		return -ENOMEM;
	programs->skeleton = object;
	skeleton = object->skeleton;
	bool old = !have_callbacks();
	int r;

	if (old) {
		skeleton->data = (void *)walk_for_bpf__elf_bytes(&skeleton->data_sz);
		log_info("kernel: hence the programs of walk_for");
	}
	r = bpf_object__open_skeleton(skeleton, NULL);
	if (r == 0)
		object->rodata->newer_helpers = find_newer_helpers(old);
	return r;
}

/* on_switch of the other object goes on as on_leave: nothing attaches on_leave itself. */
static int choose_programs(struct programs *programs, uint32_t mode)
{
	struct bpf_program *on_leave = programs->skeleton->progs.on_leave;

	bpf_program__set_autoattach(on_leave, false);
	return bpf_program__set_autoload(on_leave, mode != OFF_MODE_NONE);
}

static int prepare(struct programs *programs, const struct options *options,
		   const struct rules *rules, uint32_t ranges)
{
	int r = open_object(programs);

	if (r)
		return r;
	r = size_maps(programs);
	if (r)
		return r;
	set_constants(programs, options, rules, ranges);
	r = size_kept(programs);
	if (r)
		return r;
	r = size_waits(programs, programs_off_mode(options));
	if (r)
		return r;
	r = choose_programs(programs, programs_off_mode(options));
	if (r)
		return r;
	r = walk_loop_bpf__load(programs->skeleton);
	if (r)
		return r;
	programs->map_bytes = map_memory_sum(programs->skeleton->obj);
	/* bytes of stacks: from here on, no process reaches them */
	close(bpf_map__fd(programs->skeleton->maps.kept));
	return 0;
}

/* Accounts alone take no sample: the event charges the threads that run. */
static int load_accounts(struct programs *programs, const struct options *options)
{
	const bool counters = options->given.flags & OPTIONS_COUNTERS;
	int r = accounts_load(&programs->accounts, programs->skeleton, counters);

	if (options->given.flags & OPTIONS_STAT)
		programs->sampler = programs->accounts.tick;
	programs->map_bytes += programs->accounts.map_bytes;
	return r;
}

/* Loads what the sampler alone is not enough for. */
static int load_others(struct programs *programs, const struct options *options)
{
	int r = 0;

	if (options->given.flags & (OPTIONS_STAT | OPTIONS_ACCOUNTS))
		r = load_accounts(programs, options);
	if (r)
		return r;
	if (programs_off_mode(options) == OFF_MODE_NONE)
		return 0;
	r = off_cpu_load(&programs->off_cpu, programs->skeleton, options->given.sampling.frequency);
	programs->map_bytes += programs->off_cpu.map_bytes;
	return r;
}

int programs_load(struct programs *programs, const struct options *options,
		  const struct rules *rules, struct ksyms *ksyms, int cgroup, pid_t command)
{
	int cpus = libbpf_num_possible_cpus();
	int r;

	if (cpus < 0)
		return cpus;
	if (cpus == 0 || cpus > (int)ABI_MAX_CPUS)
		return -E2BIG;
	if (!(options->given.flags & OPTIONS_VERBOSE))
		libbpf_set_print(NULL);
	programs->cpus = (uint32_t)cpus;
	programs->ring_bytes = size_of_ring(options->given.sampling.frequency);
	r = prepare(programs, options, rules, ksyms->count);
	if (r)
		return r;
	r = fill_maps(programs, options, cgroup, command);
	if (r)
		return r;
	r = fill_rules(programs, rules);
	if (r)
		return r;
	r = fill_kernel_ranges(programs, ksyms);
	if (r)
		return r;
	r = take_maps(programs);
	if (r)
		return r;
	/* Attaches no sampler, whose attachment would enable its event. */
	r = walk_loop_bpf__attach(programs->skeleton);
	if (r == 0)
		r = load_others(programs, options);
	if (r)
		return r;
	return open_readings(programs, cgroup);
}

void programs_begin_epoch(struct programs *programs, uint32_t epoch)
{
	programs->skeleton->bss->worker_epoch = epoch;
	accounts_begin_epoch(&programs->accounts, epoch);
	off_cpu_begin_epoch(&programs->off_cpu, epoch);
}

void programs_rest(struct programs *programs, bool resting)
{
	programs->skeleton->bss->resting = resting;
	off_cpu_rest(&programs->off_cpu, resting);
}

uint32_t programs_drain(struct programs *programs)
{
	off_cpu_end(&programs->off_cpu);
	programs->skeleton->bss->draining = 1;
	return programs->skeleton->bss->kept_count;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maps that the programs of several objects use. The loader makes them with the sampler's
 * object, and gives them to the others (sched.bpf.c, off_cpu.bpf.c) by their names.
 */
#ifndef KEYHOLE_BPF_SHARED_MAPS_BPF_H
#define KEYHOLE_BPF_SHARED_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/abi.h"
#include "bpf/off_cpu/draw.bpf.h"
#include "bpf/off_cpu/wait.bpf.h"

#ifndef GENERATIONS_MAX
#define GENERATIONS_MAX 8192 /* processes */
#endif
#define DENIED_EXITS_MAX 1024
#ifndef TARGETS_MAX
#define TARGETS_MAX 128
#endif

/* The life of processes. The worker reads through its mapping. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, EVENT_RING_BYTES);
} events SEC(".maps");

/* keyhole-output maps it. Frozen by the loader: only BPF can write. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct counters);
} counters SEC(".maps");

/* The identity of each process. The broker reads; only BPF writes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_RDONLY);
	__uint(max_entries, GENERATIONS_MAX);
	__type(key, u32); /* process id */
	__type(value, struct generation);
} generations SEC(".maps");

/*
 * The deny rules of the policy, by which keyhole-rules has made a file of struct deny_rule. The
 * value is the number of a rule, from 1 on. The loader fills the map in and freezes it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_RDONLY_PROG);
	__uint(max_entries, DENY_KEYS_MAX);
	__type(key, struct deny_key);
	__type(value, u32);
} deny_rules SEC(".maps");

/*
 * Denied processes whose last thread has exited: their last work in the kernel is denied too. The
 * value is the process's struct signal_struct, because another process may have the id by then.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, DENIED_EXITS_MAX);
	__type(key, u32);
	__type(value, u64);
} denied_exits SEC(".maps");

/* Processes that the command line names, as enum target_role. The fork hook adds their children. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TARGETS_MAX);
	__type(key, u32);
	__type(value, u32);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} cgroup_filter SEC(".maps");

/*
 * Cgroups whose path the worker knows, as told_mark() has them, at a place made from the id. A
 * cgroup that takes the place of another only has its path told again. No lock is taken, as the
 * sampler may run in an NMI.
 */
#define TOLD_BITS 11
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << TOLD_BITS);
	__type(key, u32);
	__type(value, u64);
} told_cgroups SEC(".maps");

/* Threads that leave a CPU, by its number. The loader sets the entries. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct off_cpu);
} off_cpus SEC(".maps");

/* Waits by the id of the thread. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* the loader gives more where time off the CPU is asked for */
	__type(key, u32);	/* thread id */
	__type(value, struct off_wait);
} off_waits SEC(".maps");

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampler (bpf/sample.bpf.h) compiled for the host: maps are what struct sampler holds, and any
 * of them can be made to have no room.
 */
#ifndef KEYHOLE_TESTS_BPF_SAMPLER_H
#define KEYHOLE_TESTS_BPF_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wunknown-attributes" /* of CO-RE, bpf/kernel.h */
#endif

/* These stand in for <bpf/bpf_helpers.h> and similar headers. */
#define __BPF_HELPERS__
#define __BPF_TRACING_H__
#define __BPF_CORE_READ_H__
#define SEC(name)
#define __uint(name, value)  int(*name)[value]
#define __type(name, value)  __typeof__(value) *name
#define __array(name, value) __typeof__(value) *name[1]
#define BPF_PROG(name, ...)  name(__VA_ARGS__)

/* BPF_CORE_READ(): up to three members; those behind a NULL pointer are 0. */
#define OF(from, member)	    ((from) ? (from)->member : 0)
#define READ_1(from, a)		    OF(from, a)
#define READ_2(from, a, b)	    OF(OF(from, a), b)
#define READ_3(from, a, b, c)	    OF(OF(OF(from, a), b), c)
#define READ_(a, b, c, name, ...)   name
#define BPF_CORE_READ(from, ...)    READ_(__VA_ARGS__, READ_3, READ_2, READ_1)(from, __VA_ARGS__)
#define BPF_PROBE_READ(from, ...)   BPF_CORE_READ(from, __VA_ARGS__)
#define bpf_core_field_offset(s, m) offsetof(s, m)
/* members that only some kernels have */
#define bpf_core_field_exists(m) has_member(#m)

/* These stand in for bpf/base.bpf.h and bpf/env.bpf.h. */
#define KEYHOLE_BPF_BASE_BPF_H
#define KEYHOLE_BPF_ENV_BPF_H
#define INLINE	      static inline
#define GLOBAL	      static
#define BOUND(x, n)   ((u64)(x) < (u64)(n) ? (u64)(x) : 0)
#define HIDE(walk, x) (x)

static const char *kernel_members = ""; /* "->name" of each that the kernel has */

static bool has_member(const char *expression)
{
	const char *name = strstr(expression, "->");

	return name && strstr(kernel_members, name);
}

#include "bpf/config.bpf.h"
#include "bpf/kernel.h"
#include "bpf/maps.bpf.h"

#define KEPT_PROBES	4u
#define KERNEL_READABLE 4096u /* the kernel's memory begins here */

static struct sampler {
	bool no_ring, no_room; /* look-up of the ring fails; generations are full */
	bool events_full;
	bool in_root; /* the current task's cgroup is the root */
	u64 id, now;
	struct task_struct task;
	struct task_struct *exiting; /* the current task in a hook, or NULL: `task` */
	u64 regs[PT_WORDS];
	struct scratch scratch;
	struct rule_cache cache;
	union orc_place orc[ORC_NOTES_AT + ORC_BLOCKS / ORC_NOTES];
	struct counters counters;
	struct ring_tails tails;
	struct process_table processes;
	struct generation generation; /* the only one; number 0: none */
	struct deny_key rule[8];      /* of deny_rules */
	u32 rules;
	u64 denied[9]; /* of denied_samples */
	struct {
		u32 pid, role;
	} target[4];
	bool in_cgroup;	  /* the one of FILTER_CGROUP */
	u32 kernel_depth; /* frames of the kernel's stack */
	u64 *entry;	  /* registers at its entry; NULL: not to be read */
	u64 exited;	  /* of denied_exits: of any process */
	struct runtimes runtimes;
	struct ended_task ended[1 << ENDED_BITS];
	union { /* the last one */
		struct event event;
		struct event_name name;
	};
	u32 events;
	struct event_cgroup path; /* the last one */
	u32 paths;
	struct event_code code; /* the last one */
	u32 codes;
	u64 code_bytes; /* of the last one */
	u64 told_code[1 << TOLD_CODE_BITS];
	struct grant *grant;	     /* of all families; NULL: none */
	struct grant *context_grant; /* the same with GRANT_OF_CONTEXT */
	struct segment *segment;     /* the first one; NULL: none */
	u64 told[1 << TOLD_BITS];
	u64 kernel[16]; /* addresses on the kernel's stack, leaf first; 0: any */
	struct kernel_range scheduler;
	struct off_cpu off_cpu;
	struct off_wait off_wait; /* of any thread */
	struct kernel_range range[4];
	struct late_name late[1 << LATE_BITS];
	const char *symbol; /* of each address; NULL: the kernel has no such helper */
	u64 symbol_address; /* the last one that was asked for */
	u64 symbol_takes;   /* ns */
	u64 events_waiting; /* bytes in the ring */
	u32 forced;	    /* wake-ups of the worker */
	u32 generation_pid;
	struct kept kept[KEPT_SLOTS_MIN];
	u32 queue[KEPT_SLOTS_MIN], queued;
	const void *user; /* the readable memory of the process */
	u64 user_start, user_bytes;
	_Alignas(8) u8 ring[RING_BYTES_MIN + 64];
} sampler;

/* Numbers the rules in their order, from 1 on. */
static void *find_rule(const struct deny_key *key)
{
	static u32 number;

	for (number = 1; number <= sampler.rules; number++)
		if (!memcmp(&sampler.rule[number - 1], key, sizeof(*key)))
			return &number;
	return NULL;
}

static void *find_target(u32 pid)
{
	for (u32 i = 0; i < sizeof(sampler.target) / sizeof(*sampler.target); i++)
		if (sampler.target[i].pid == pid)
			return &sampler.target[i].role;
	return NULL;
}

static void *bpf_map_lookup_elem(const void *map, const void *key)
{
	u32 number = *(const u32 *)key;

	if (map == &rings)
		return sampler.no_ring ? NULL : sampler.ring;
	if (map == &generations)
		return sampler.generation.number && sampler.generation_pid == number
			       ? &sampler.generation
			       : NULL;
	if (map == &deny_rules)
		return find_rule(key);
	if (map == &denied_samples)
		return number < 9 ? &sampler.denied[number] : NULL;
	if (map == &kernel_ranges && number == KERNEL_RANGES_MAX)
		return &sampler.scheduler;
	if (map == &kernel_ranges)
		return number < 4 ? &sampler.range[number] : NULL;
	if (map == &orc_places)
		return number < ORC_NOTES_AT + ORC_BLOCKS / ORC_NOTES ? &sampler.orc[number] : NULL;
	if (map == &late_names)
		return &sampler.late[number];
	if (map == &targets)
		return find_target(number);
	if (map == &denied_exits)
		return sampler.exited ? &sampler.exited : NULL;
	if (map == &ended_tasks)
		return &sampler.ended[number];
	if (map == &runtimes)
		return &sampler.runtimes;
	if (map == &scratches)
		return &sampler.scratch;
	if (map == &told_cgroups)
		return &sampler.told[number];
	if (map == &told_code)
		return &sampler.told_code[number];
	if (map == &grants)
		return *(const u64 *)key & GRANT_OF_CONTEXT ? sampler.context_grant : sampler.grant;
	if (map == &counters)
		return &sampler.counters;
	if (map == &tails)
		return &sampler.tails;
	if (map == &off_cpus)
		return &sampler.off_cpu;
	if (map == &off_waits)
		return &sampler.off_wait;
	if (map == &kept)
		return number < KEPT_SLOTS_MIN ? &sampler.kept[number] : NULL;
	return map == &processes ? &sampler.processes : NULL;
}

static long bpf_map_update_elem(const void *map, const void *key, const void *value, u64 flags)
{
	if (map == &denied_exits)
		sampler.exited = *(const u64 *)value;
	if (map != &generations || sampler.no_room)
		return -7;
	sampler.generation = *(const struct generation *)value;
	sampler.generation_pid = *(const u32 *)key;
	return 0;
}

static long bpf_map_delete_elem(const void *map, const void *key)
{
	if (map == &generations)
		sampler.generation.number = 0;
	for (u32 i = 0; map == &targets && i < 4; i++)
		if (sampler.target[i].pid == *(const u32 *)key)
			sampler.target[i].pid = 0;
	return 0;
}

static long bpf_map_push_elem(const void *map, const void *value, u64 flags)
{
	if (sampler.queued == KEPT_SLOTS_MIN)
		return -7;
	sampler.queue[sampler.queued++] = *(const u32 *)value;
	return 0;
}

static long bpf_map_pop_elem(const void *map, void *value)
{
	if (!sampler.queued)
		return -2;
	*(u32 *)value = sampler.queue[0];
	memmove(sampler.queue, sampler.queue + 1, --sampler.queued * sizeof(u32));
	return 0;
}

static void *bpf_ringbuf_reserve(const void *map, u64 bytes, u64 flags)
{
	if (bytes == sizeof(sampler.path)) {
		sampler.paths += !sampler.events_full;
		return sampler.events_full ? NULL : &sampler.path;
	}
	if (bytes == EVENT_CODE_SHORT_BYTES || bytes == sizeof(sampler.code)) {
		sampler.code_bytes = bytes;
		sampler.codes += !sampler.events_full;
		return sampler.events_full ? NULL : &sampler.code;
	}
	sampler.events += !sampler.events_full;
	if (bytes == EVENT_SHORT_BYTES)
		sampler.event = (struct event){0};
	return sampler.events_full ? NULL : &sampler.event;
}

static u64 bpf_ringbuf_query(const void *map, u64 flags)
{
	return sampler.events_waiting;
}

static void bpf_ringbuf_submit(void *event, u64 flags)
{
	sampler.forced += flags == BPF_RB_FORCE_WAKEUP;
}

static void bpf_ringbuf_discard(void *event, u64 flags)
{
	sampler.events--;
}

static u64 bpf_ktime_get_ns(void)
{
	return ++sampler.now;
}

static u64 bpf_get_current_pid_tgid(void)
{
	return sampler.id;
}

static u32 bpf_get_smp_processor_id(void)
{
	return 0;
}

static u64 bpf_get_current_uid_gid(void)
{
	return 1000;
}

static u64 bpf_get_current_cgroup_id(void)
{
	return sampler.in_root ? CGROUP_ROOT : 1002;
}

static u64 bpf_get_current_ancestor_cgroup_id(int level)
{
	return level <= 2 ? 1000 + level : 0;
}

static long bpf_current_task_under_cgroup(const void *map, u32 index)
{
	return sampler.in_cgroup;
}

static long bpf_get_current_comm(void *name, u32 bytes)
{
	memset(name, 0, bytes);
	return 0;
}

static long bpf_get_stack(void *ctx, void *to, u32 bytes, u64 flags)
{
	u32 count = 0;

	for (u32 i = 0; i < sampler.kernel_depth && count < bytes / 8; i++)
		((u64 *)to)[count++] = i < 16 && sampler.kernel[i] ? sampler.kernel[i] : ~0ull;
	return count * 8;
}

static long bpf_probe_read_kernel(void *to, u32 bytes, const void *from)
{
	if ((u64)from < KERNEL_READABLE)
		memset(to, 0, bytes);
	if ((u64)from < KERNEL_READABLE)
		return -14;
	memcpy(to, from, bytes);
	return 0;
}

static long bpf_probe_read_user(void *to, u32 bytes, const void *from)
{
	u64 at = (u64)from - sampler.user_start;

	memset(to, 0, bytes);
	if (at >= sampler.user_bytes || bytes > sampler.user_bytes - at)
		return -14;
	memcpy(to, (const u8 *)sampler.user + at, bytes);
	return 0;
}

static long bpf_probe_read_kernel_str(void *to, u32 bytes, const void *from)
{
	if (!from)
		return -14;
	snprintf(to, bytes, "%s", (const char *)from);
	return 0;
}

static long bpf_seq_write(void *file, const void *data, u32 bytes)
{
	return 0;
}

/* ---- what env.bpf.h and kernel_*.bpf.h offer ---- */

static struct scratch *scratch_state(void)
{
	return &sampler.scratch;
}

static struct walk *walk_state(void)
{
	return &sampler.scratch.walk;
}

static struct segment *walk_segment(u32 word)
{
	return word < SEGMENT_WORDS ? sampler.segment : NULL;
}

static struct rule_cache *walk_cache(void)
{
	return &sampler.cache;
}

static u64 walk_clock(void)
{
	return sampler.now;
}

static int walk_read(void *to, u64 bytes, u64 address)
{
	return bpf_probe_read_user(to, bytes, (const void *)address) != 0;
}

static int walk_read_copy(struct walk *walk, void *to, u64 bytes, u64 address)
{
	for (u32 i = 0; i < STACK_COPIES; i++) {
		const struct stack_copy *copy = &walk->copy[i];
		u64 from = copy->at + (address - copy->start);

		if (!stack_copy_holds(copy, bytes, address))
			continue;
		memcpy(to, (const void *)from, bytes);
		return 0;
	}
	return 1;
}

static u32 kept_place(u64 address)
{
	return address * cache_multiplier >> (64 - KEPT_CALLS_BITS);
}

static int walk_copy_calls(u64 address)
{
	const struct kept *slot = &sampler.kept[sampler.scratch.kept - 1];

	for (u32 i = 0; i < KEPT_PROBES; i++)
		if (slot->call[(kept_place(address) + i) & (KEPT_CALLS - 1)] == address)
			return 1;
	return 0;
}

static int walk_executable(u64 address)
{
	const struct mm_struct *mm = sampler.task.mm;

	return mm && address >= mm->start_code && address < mm->end_code;
}

static struct record *record_of(struct scratch *scratch)
{
	return sampler.no_ring
		       ? NULL
		       : (struct record *)(sampler.ring + (scratch->head & (RING_BYTES_MIN - 1)));
}

static int walk_emit(struct walk *walk, u64 frame)
{
	((u64 *)(record_of(&sampler.scratch) + 1))[walk->before + walk->frames] = frame;
	return 0;
}

static int walk_store(struct walk *walk, u32 at, u64 first, u64 second)
{
	u64 *words = (u64 *)(record_of(&sampler.scratch) + 1) + walk->frames + at;

	words[0] = first;
	words[1] = second;
	return 0;
}

static int has_grant(struct scratch *scratch)
{
	return bpf_map_lookup_elem(&grants, &scratch->sample.family) != NULL;
}

static u64 walk_list_time(struct walk *walk)
{
	(void)walk;
	return 0;
}

static int walk_may_list(struct walk *walk)
{
	(void)walk;
	return 0;
}

static u64 walk_thread_pointer(void)
{
	return sampler.task.thread.fsbase;
}

static int walk_may_switch(void)
{
	return 1;
}

static u64 walk_leaf_stack(struct walk *walk)
{
	(void)walk;
	return sampler.scratch.sample.regs[PT_RSP];
}

static void walk_leaf(struct walk *walk)
{
	memcpy(walk->window, sampler.scratch.sample.regs, (PT_ORIG_RAX + 1) * 8);
}

static int tell_code(u64 code, u64 fingerprint);

static int is_told(u64 code, u64 fingerprint);

static int walk_told(struct walk *walk, u64 code, u32 fingerprint)
{
	return !walk->list.told || is_told(code, fingerprint);
}

static void walk_tell(struct walk *walk, u64 code, u32 fingerprint)
{
	if (walk->list.told)
		tell_code(code, fingerprint);
}

static int tell_inlined(u64 code, u64 fingerprint);

static int walk_tell_inlined(struct walk *walk, u64 code, u32 fingerprint)
{
	(void)walk;
	return tell_inlined(code, fingerprint);
}

static u64 bpf_get_current_task(void)
{
	return (u64)(sampler.exiting ? sampler.exiting : &sampler.task);
}

static struct task_struct *task_now(void)
{
	return &sampler.task;
}

static u64 task_mm(struct task_struct *task)
{
	return (u64)task->mm;
}

static u64 task_signal(struct task_struct *task)
{
	return (u64)task->signal;
}

static u32 task_flags(struct task_struct *task)
{
	return task->flags;
}

static void *task_registers(struct task_struct *task)
{
	return (sampler.regs[PT_CS] & CS_RPL_USER) == CS_RPL_USER ? sampler.regs : sampler.entry;
}

static int has_outer_helper(void)
{
	return 1;
}

static int reads_outer(void)
{
	return 0;
}

static int has_kernel_symbols(void)
{
	return 1;
}

static long kernel_symbol(void *to, u32 bytes, u64 address)
{
	sampler.symbol_address = address;
	sampler.now += sampler.symbol_takes;
	return sampler.symbol ? snprintf(to, bytes, "%s", sampler.symbol) + 1 : 0;
}

static u64 next_count(u64 *count)
{
	return ++*count;
}

static int walk_step(void);

static void walk_all(void)
{
	for (u32 i = 0; i <= RECORD_FRAMES_MAX && !walk_step(); i++)
		;
}

#include "bpf/sample.bpf.h"

#endif

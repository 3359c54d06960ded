/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sampler: filter, kernel part, user part, record. This header is the body of the objects
 * walk_*.bpf.c, which also hold the hooks that follow the life of processes (life.bpf.h).
 *
 * The includer supplies what its kernels offer (kernel_*.bpf.h).
 */
#ifndef KEYHOLE_BPF_SAMPLE_BPF_H
#define KEYHOLE_BPF_SAMPLE_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/abi.h"
#include "bpf/config.bpf.h"
#include "bpf/env.bpf.h"
#include "bpf/kernel.h"
#include "bpf/late.bpf.h"
#include "bpf/life.bpf.h"
#include "bpf/maps.bpf.h"

#ifdef OBSERVER
#include OBSERVER /* in test builds: sees each walk begin and each sample end */
#else
#define observe_walk(ctx, scratch)
#define observe_sample(scratch, record, reason)
#endif

#include "bpf/walk/step.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* ---- kernel part ---- */

/* Whether a range holds an address, and whether its code lasts as long as the recording. */
enum range_holds {
	RANGE_NOT,
	RANGE_LASTS,
	RANGE_PASSING /* the code comes and goes: kernel_range.passing */
};

INLINE enum range_holds range_holds(u32 number, u64 address, u64 *ret_frame)
{
	struct kernel_range *range = bpf_map_lookup_elem(&kernel_ranges, &number);

	if (!range || address - range->start >= range->end - range->start)
		return RANGE_NOT;
	*ret_frame = KERNEL_FRAME(number & 0xffff, address - range->start);
	return range->passing ? RANGE_PASSING : RANGE_LASTS;
}

/* Finds the range of a kernel address: first tries the last frame's range, then kernel text. */
INLINE enum range_holds kernel_range(u64 address, u32 before, u64 *ret_frame)
{
	enum range_holds holds = range_holds(before, address, ret_frame);
	u32 low = 0, high = kernel_range_count;

	if (!holds)
		holds = range_holds(0, address, ret_frame);
	if (holds)
		return holds;
	for (u32 i = 0; i < 10; i++) {
		u32 middle = (low + high) >> 1;
		struct kernel_range *range;

		if (middle == low)
			break;
		range = bpf_map_lookup_elem(&kernel_ranges, &middle);
		if (!range)
			break;
		if (range->start <= address)
			low = middle;
		else
			high = middle;
	}
	return low ? range_holds(low, address, ret_frame) : RANGE_NOT;
}

/*
 * Returns the frame of a kernel address. number: of the frame, 0 for the leaf. All others are
 * return addresses, which may already be in the next function.
 */
GLOBAL u64 kernel_frame(u64 address, u32 before, u32 number)
{
	u64 frame = KERNEL_FRAME(KERNEL_RANGE_UNKNOWN, 0);

	if (kernel_range(address, before, &frame) == RANGE_LASTS || !has_kernel_symbols())
		return frame;
	return late_frame(number ? address - 1 : address);
}

/*
 * No clock stops the kernel's own stack walk. So the leaf part is taken first, and the rest of a
 * deep stack only if the leaf part was cheap. That costs the ordinary sample nothing.
 */
INLINE u32 kernel_stack(void *ctx, struct scratch *scratch, u64 now, u8 *flags)
{
	u32 limit = KERNEL_FRAMES_FIRST;
	long bytes = bpf_get_stack(ctx, scratch->kernel, KERNEL_FRAMES_FIRST * 8, 0);

	if (bytes >= KERNEL_FRAMES_FIRST * 8 &&
	    bpf_ktime_get_ns() - now < walk_budget_ns / KERNEL_FIRST_SHARE) {
		limit = RECORD_KERNEL_FRAMES_MAX;
		bytes = bpf_get_stack(ctx, scratch->kernel, RECORD_KERNEL_FRAMES_MAX * 8, 0);
	}
	if (bytes <= 0 || bytes >= (long)limit * 8)
		*flags |= RECORD_FLAG_KERNEL_CUT;
	return bytes > 0 ? (u32)bytes >> 3 : 0;
}

/*
 * Stores the first `count` kernel frames. Absolute addresses stay in scratch, which no process
 * maps. In a global function the verifier takes the loop once; in on_sample(), once for each state
 * before the loop.
 */
GLOBAL int store_kernel_frames(u32 count)
{
	struct scratch *scratch = scratch_state();
	u32 range = 0;

	if (!scratch)
		return 0;
	struct record *record = record_of(scratch);

	if (!record)
		return 0;
	u64 *frames = (u64 *)(record + 1);

	for (u32 i = 0; i < RECORD_KERNEL_FRAMES_MAX; i++) {
		if (i >= count)
			break;
		u64 frame = kernel_frame(scratch->kernel[i], range, i);

		range = KERNEL_FRAME_RANGE(frame);
		frames[i] = frame;
	}
	return 0;
}

/* Takes the kernel stack. Returns the number of its frames. */
INLINE u32 kernel_part(void *ctx, struct scratch *scratch, u8 *flags, u64 now)
{
	u32 count;

	if (sample_filter.hides & FILTER_NO_KERNEL)
		return 0;
	scratch->names_until = now + walk_budget_ns / KERNEL_NAMES_SHARE;
	count = kernel_stack(ctx, scratch, now, flags);
	store_kernel_frames(count);
	return count > RECORD_KERNEL_FRAMES_MAX ? RECORD_KERNEL_FRAMES_MAX : count;
}

/* ---- user part ---- */

/* clang-format off */
#define PT_REGISTERS(X) \
	X(REG_RAX, PT_RAX) X(REG_RDX, PT_RDX) X(REG_RCX, PT_RCX) X(REG_RBX, PT_RBX) \
	X(REG_RSI, PT_RSI) X(REG_RDI, PT_RDI) X(REG_RBP, PT_RBP) X(REG_RSP, PT_RSP) \
	X(REG_R8, PT_R8) X(REG_R9, PT_R9) X(REG_R10, PT_R10) X(REG_R11, PT_R11) \
	X(REG_R12, PT_R12) X(REG_R13, PT_R13) X(REG_R14, PT_R14) X(REG_R15, PT_R15)
/* clang-format on */

/* Takes the registers of a sample in user mode, which are the context. Returns cs. */
INLINE u64 registers_of_context(struct walk *walk, void *ctx)
{
	volatile u64 *regs = ctx;

#define X(number, at) walk->reg[number] = regs[at];
	PT_REGISTERS(X)
#undef X
	walk->address = regs[PT_RIP];
	return regs[PT_CS];
}

/* Takes the registers that the entry to the kernel saved. Returns cs, or 0 without registers. */
INLINE u64 registers_of_entry(struct walk *walk, u64 *regs, struct task_struct *task)
{
	if (bpf_probe_read_kernel(regs, PT_WORDS * 8, task_registers(task)))
		return 0;
#define X(number, at) walk->reg[number] = regs[at];
	PT_REGISTERS(X)
#undef X
	walk->address = regs[PT_RIP];
	walk->in_sigreturn = regs[PT_ORIG_RAX] == NR_RT_SIGRETURN;
	return regs[PT_CS];
}

/*
 * Finds the published mappings of (pid, generation) for the walk. Returns REASON_COUNT, or the
 * reason why there are none.
 */
INLINE u32 find_block(struct walk *walk, u32 pid, u64 generation, u64 family)
{
	u32 zero = 0, hash = process_slot_hash(pid);
	struct process_table *table = bpf_map_lookup_elem(&processes, &zero);
	u64 want = process_slot_key(pid, generation), taken = 1;

	if (!table || !generation)
		return REASON_cut_not_ready;
	for (u32 i = 0; i < PROCESS_PROBES; i++) {
		volatile struct process_slot *slot = &table->slot[(hash + i) & (PROCESS_SLOTS - 1)];
		u64 key = slot->key, block, gone = key - PROCESS_SLOT_GONE;

		if (!key)
			return REASON_cut_not_ready;
		/* 0 at a free place; a branch would double the verifier's states */
		taken &= (gone | -gone) >> 63;
		if (key != want)
			continue;
		block = slot->block;
		if (slot->key != want) /* reused between the two loads */
			return REASON_cut_not_ready;
		walk->block = (u32)(block & 0xffffff) << 4;
		walk->mappings = block >> 24 & BLOCK_MAPPINGS_MAX;
		walk->incomplete = (block & PROCESS_SLOT_INCOMPLETE) != 0;
		walk->seed = cache_seed(family, process_slot_version(block), walk->multiplier);
		return walk->block ? REASON_COUNT : REASON_cut_no_room;
	}
	return taken ? REASON_cut_no_slot : REASON_cut_not_ready;
}

/* Returns the reason why no walk is possible, or REASON_COUNT. */
INLINE u32 prepare_walk(struct walk *walk, const struct generation *generation, u32 pid, u64 mm,
			u64 cs)
{
	if (generation->mm != mm)
		return REASON_cut_exec;
	if (cs == CS_USER32)
		return REASON_cut_compat;
	u32 reason = find_block(walk, pid, generation->number, generation->family);

	if (reason == REASON_COUNT || reason == REASON_cut_no_room)
		return reason;
	if (find_block(walk, generation->base_pid, generation->base_number, generation->family) ==
	    REASON_COUNT)
		return REASON_COUNT;
	return reason;
}

/* In this time the dynamic linker still maps: a missing mapping is on its way to the worker. */
#define NEW_FOR_NS 100000000ull

/* Takes the user part. Returns the reason why it ended. */
INLINE u32 user_part(void *ctx, struct scratch *scratch, struct task_struct *task,
		     const struct generation *generation, u32 pid, int kernel_mode, u64 now)
{
	struct walk *walk = &scratch->walk;
	u64 cs = kernel_mode ? registers_of_entry(walk, scratch->regs, task)
			     : registers_of_context(walk, ctx);
	u32 reason;

	if ((cs & CS_RPL_USER) != CS_RPL_USER)
		return REASON_end_no_user;
	walk->deadline = now + walk_budget_ns;
	walk->looked = now;
	walk->extension = walk_extension_ns;
	walk->forgiving = walk_extension_ns ? WALK_STALLS : 0;
	if (kernel_mode)
		walk->look_at = 1; /* the kernel part may have used the budget up */
	walk->multiplier = cache_multiplier + 2 * (u64)scratch->epoch;
	observe_walk(ctx, scratch);
	reason = prepare_walk(walk, generation, pid, task_mm(task), cs);
	if (reason == REASON_COUNT) {
		walk_all();
		if (walk->reason == REASON_cut_no_mapping && now - generation->born < NEW_FOR_NS)
			return REASON_cut_not_ready;
		return walk_result(walk);
	}
	/* the pc alone says where the time went; after an exec the pc means nothing */
	if (reason != REASON_cut_exec && walk->address < WALK_ADDRESS_END &&
	    !walk_emit(walk, walk->address | FRAME_EXACT))
		walk->frames++;
	return reason;
}

/* ---- the record ---- */

#define WAKE_EVERY_NS 20000000ull /* of a CPU */

/* Makes room for the largest record. Returns 0 when the worker has not drained the ring. */
INLINE int reserve(struct scratch *scratch, u32 cpu)
{
	u32 zero = 0;
	u64 at = scratch->head & (ring_bytes - 1);
	struct ring_tails *tail = bpf_map_lookup_elem(&tails, &zero);

	if (!tail)
		return 0;
	if (at > ring_bytes - RECORD_BYTES_MAX)
		scratch->head += ring_bytes - at;
	u64 read = *(volatile u64 *)&tail->tail[BOUND((u64)cpu, ABI_MAX_CPUS)];

	scratch->waited_for = scratch->head - read > ring_bytes / 2;
	return scratch->head + RECORD_BYTES_MAX - read <= ring_bytes;
}

INLINE void commit(struct scratch *scratch, struct record *record, struct counters *count,
		   u32 reason)
{
	struct walk *walk = &scratch->walk;
	u64 bytes = sizeof(*record) + 8 * ((u64)scratch->kernel_frames + walk->frames);

	count->reason[BOUND((u64)reason, REASON_COUNT)]++;
	count->bytes += bytes;
	count->kernel_frames += scratch->kernel_frames;
	count->user_frames += walk->frames;
	count->cache_trail += walk->trail_hits;
	count->cache_text += walk->text_hits;
	count->cache_miss += walk->misses;
	count->fallback_frames += walk->fallbacks;
	record->kernel_frames = scratch->kernel_frames;
	record->user_frames = walk->frames;
	record->reason = reason;
	/* x86 keeps stores in order; the compiler must as well */
	asm volatile("" ::: "memory");
	*(volatile u64 *)&record->commit = record_commit(scratch->head, bytes);
	scratch->head += bytes;
}

/* Returns whether a sample tells of a process or mapping that the worker does not know. */
INLINE int waits_for_worker(u32 reason)
{
	return reason == REASON_cut_not_ready || reason == REASON_cut_no_mapping;
}

/*
 * Wakes the worker between its looks. This is a global function without arguments, because the
 * stack of a sample is full on 5.10.
 */
GLOBAL int wake_worker(void)
{
	struct scratch *scratch = scratch_state();
	u64 now = bpf_ktime_get_ns();

	if (!scratch || now - scratch->woke < WAKE_EVERY_NS)
		return 0;
	scratch->woke = now;
	return tell(EVENT_WAKE, 0, 0, 0, 0);
}

/* Takes one sample of a task that passed the filter. */
INLINE void take(void *ctx, struct scratch *scratch, struct counters *count, u64 id,
		 struct task_struct *task, const struct generation *generation, u64 now)
{
	volatile u64 *regs = ctx;
	int kernel_mode = (regs[PT_CS] & CS_RPL_USER) != CS_RPL_USER;
	u32 reason = REASON_end_no_user;
	u8 flags = kernel_mode ? RECORD_FLAG_KERNEL_MODE : 0;

	if (!reserve(scratch, scratch->cpu)) {
		count->reason[REASON_lost_ring_full]++;
		return;
	}
	struct record *record = record_of(scratch);

	if (!record) {
		count->reason[REASON_lost_internal]++;
		return;
	}
	record->time = now;
	record->generation = generation ? generation->number : 0;
	record->pid = id >> 32;
	record->tid = (u32)id;
	record->cpu = scratch->cpu;
	bpf_get_current_comm(record->comm, sizeof(record->comm));
	scratch->kernel_frames = 0;
	walk_init(&scratch->walk);
	if (kernel_mode)
		scratch->kernel_frames = kernel_part(ctx, scratch, &flags, now);
	record->flags = flags;
	if (sample_filter.hides & FILTER_NO_USER)
		generation = NULL;
	if (generation)
		reason = user_part(ctx, scratch, task, generation, id >> 32, kernel_mode, now);
	commit(scratch, record, count, reason);
	scratch->waited_for |= waits_for_worker(reason);
	observe_sample(scratch, record, reason);
}

/* Excludes kernel threads, and tasks in their exit, whose process may have no entry any more. */
INLINE int has_user_stack(struct task_struct *task)
{
	return task_mm(task) && !(task_flags(task) & (PF_KTHREAD | PF_EXITING));
}

enum verdict {
	TAKEN,
	DENIED,
	DENIED_COUNTED /* the readings of CPU time count the process */
};

/*
 * Returns the verdict on a sample: by the entry of the process, or by the task's present state.
 * Updates the entry, and tells the worker.
 */
INLINE enum verdict judge_sample(struct task_struct *task, u32 pid, struct generation *known)
{
	u32 flags = task_flags(task), denied;

	if (!known) {
		if (flags & PF_EXITING && is_denied_exit(task, pid))
			return has_ended() ? DENIED_COUNTED : DENIED;
		denied = denies_now(task);
		if (denied && !(flags & PF_EXITING))
			first_sight(pid, task_mm(task), denied, 1, GIVEN_BY_SAMPLER);
		return denied ? DENIED_COUNTED : TAKEN;
	}
	if (known->denied)
		return known->counted ? DENIED_COUNTED : DENIED;
	/* setuid() has no hook */
	if (!(deny_kinds & DENY_BIT(DENY_UID)) ||
	    !denies_task(number_of(task), 0, 0, DENY_BIT(DENY_UID)))
		return TAKEN;
	known->counted = 1;
	known->denied |= DENIED_BY_RULE;
	tell(EVENT_EXIT, pid, known->number, 0, 0);
	return DENIED_COUNTED;
}

/* Returns whether sample_interval_ns forbids this sample. */
INLINE int is_too_many(struct scratch *scratch, u64 now)
{
	if (scratch->due > now + SAMPLES_SAVED_NS)
		return 1;
	scratch->due = (scratch->due > now ? scratch->due : now) + sample_interval_ns;
	return 0;
}

/* Compares effective ids, as ps -u and top -u do. */
INLINE int is_of_wanted_user(struct task_struct *task)
{
	u64 uid = BPF_CORE_READ(task, real_cred, euid.val), other = 1;

#pragma unroll
	for (u32 i = 0; i < FILTER_PLACES; i++)
		other &= is_nonzero(sample_filter.uid[i] ^ uid);
	return !other;
}

/* Returns whether the command line filters the sample. cs: of the interrupted context. */
INLINE int is_filtered(struct task_struct *task, u64 cs)
{
	if (sample_filter.hides & FILTER_NO_KERNEL && !has_user_stack(task))
		return 1;
	if (sample_filter.hides & FILTER_NO_USER && (cs & CS_RPL_USER) == CS_RPL_USER)
		return 1;
	return sample_filter.uid[0] != FILTER_UID_NONE && !is_of_wanted_user(task);
}

#define LEAVES_OUT (deny_kinds || sample_filter.hides || sample_filter.uid[0] != FILTER_UID_NONE)

/*
 * Returns whether the sample is denied or filtered, and counts it. Kernel threads belong to no
 * user: no rule denies them. This is a global function, called before all else, so that its
 * branches do not multiply the walk's states.
 */
GLOBAL int sample_is_left_out(u64 cs)
{
	u32 pid = bpf_get_current_pid_tgid() >> 32, cpu = bpf_get_smp_processor_id();
	struct generation *known = bpf_map_lookup_elem(&generations, &pid);
	struct counters *count = bpf_map_lookup_elem(&counters, &cpu);
	struct task_struct *task = task_now();
	enum verdict verdict = TAKEN;

	if (!pid || !count || !wanted_now())
		return 0;
	if (filter_mode == FILTER_TARGETS && !known && !is_target(pid) && !has_ended())
		return 0;
	if (deny_kinds && !(task_flags(task) & PF_KTHREAD))
		verdict = judge_sample(task, pid, known);
	if (verdict != TAKEN) {
		count->denied++;
		count->denied_counted += verdict == DENIED_COUNTED;
		return 1;
	}
	if (!is_filtered(task, cs))
		return 0;
	count->filtered++;
	return 1;
}

SEC("perf_event")
int on_sample(void *ctx)
{
	if (LEAVES_OUT && sample_is_left_out(((volatile u64 *)ctx)[PT_CS]))
		return 0;
	u64 now = bpf_ktime_get_ns(), id = bpf_get_current_pid_tgid();
	u32 zero = 0, cpu = bpf_get_smp_processor_id(), pid = id >> 32, epoch = worker_epoch;
	struct task_struct *task = task_now();
	struct generation *generation = NULL;

	if (!id || !wanted_now())
		return 0;
	int has_user = has_user_stack(task);

	if (has_user || filter_mode == FILTER_TARGETS)
		generation = bpf_map_lookup_elem(&generations, &pid);
	if (filter_mode == FILTER_TARGETS && !generation && !is_target(pid) && !has_ended())
		return 0;

	struct counters *count = bpf_map_lookup_elem(&counters, &cpu);
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);

	if (!count || !scratch)
		return 0;
	count->samples++;
	if (scratch->busy) {
		count->reason[REASON_lost_nested]++;
		return 0;
	}
	if (sample_interval_ns && is_too_many(scratch, now)) {
		count->reason[REASON_lost_throttled]++;
		return 0;
	}
	if (!has_user) {
		generation = NULL;
	} else if (!generation) {
		generation = first_sight(pid, task_mm(task), 0, 0, GIVEN_BY_SAMPLER);
		if (!generation) {
			count->reason[REASON_lost_generation]++;
			return 0;
		}
	} else {
		meet_again(pid, generation, epoch);
	}
	if (generation)
		locate(generation, epoch);
	scratch->busy = 1;
	scratch->cpu = cpu;
	if (scratch->epoch != epoch)
		scratch->head = RING_START(epoch);
	scratch->epoch = epoch;
	take(ctx, scratch, count, id, task, generation, now);
	scratch->busy = 0;
	if (scratch->waited_for)
		wake_worker();
	return 0;
}

#endif

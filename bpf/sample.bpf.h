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
#include "bpf/maps.bpf.h"

#ifdef OBSERVER
#include OBSERVER /* in test builds: sees each walk begin, each look at the clock and each end */
#else
#define observe_walk(ctx, scratch)
#define observe_sample(scratch, record, reason)
#endif

#include "bpf/code.bpf.h"
#include "bpf/grant.bpf.h"
#include "bpf/keep.bpf.h"
#include "bpf/late.bpf.h"
#include "bpf/life.bpf.h"
#include "bpf/orc.bpf.h"
#include "bpf/walk/context.bpf.h"
#include "bpf/walk/go_labels.bpf.h"
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

#ifndef observe_kernel
#define observe_kernel(ctx, scratch, frames)
#endif

/* Walks the kernel's stack by its tables. Returns the number of frames, or 0: the kernel walks. */
INLINE u32 own_kernel_stack(void *ctx, struct scratch *scratch)
{
	u32 frames = 0;

	if (orc_begin(ctx, scratch))
		frames = orc_walk(
			scratch, scratch->sample.record.time + walk_budget_ns / KERNEL_FIRST_SHARE);
	observe_kernel(ctx, scratch, frames);
	return frames;
}

/*
 * No clock stops the kernel's own stack walk. So the leaf part is taken first, and the rest of a
 * deep stack only if the leaf part was cheap. That costs the ordinary sample nothing.
 */
INLINE u32 kernel_stack(void *ctx, struct scratch *scratch, u64 began)
{
	struct record *record = &scratch->sample.record;
	u32 limit = KERNEL_FRAMES_FIRST;
	u64 *kernel = scratch->sample.kernel;
	long bytes = bpf_get_stack(ctx, kernel, KERNEL_FRAMES_FIRST * 8, 0);

	if (bytes >= KERNEL_FRAMES_FIRST * 8 &&
	    bpf_ktime_get_ns() - began < walk_budget_ns / KERNEL_FIRST_SHARE) {
		limit = RECORD_KERNEL_FRAMES_MAX;
		bytes = bpf_get_stack(ctx, kernel, RECORD_KERNEL_FRAMES_MAX * 8, 0);
	}
	if (bytes <= 0 || bytes >= (long)limit * 8)
		record->flags |= RECORD_FLAG_KERNEL_CUT;
	return bytes > 0 ? (u32)bytes >> 3 : 0;
}

#define KERNEL_FRAMES_GROUP 4u /* frames that one function stores */

/* Stores some of the kernel frames. A group has its own loop: the verifier takes that loop once. */
GLOBAL int store_kernel_group(u32 first)
{
	struct scratch *scratch = scratch_state();
	struct record *record = scratch ? record_of(scratch) : NULL;

	if (!record)
		return 0;
	u64 *frames = (u64 *)(record + 1);

	NOT_UNROLLED
	for (u32 i = 0; i < KERNEL_FRAMES_GROUP; i++) {
		u64 at = BOUND((u64)first + i, RECORD_KERNEL_FRAMES_MAX);
		u64 frame;

		if (first + i >= scratch->sample.record.kernel_frames)
			break;
		frame = kernel_frame(scratch->sample.kernel[at], scratch->range, at);
		scratch->range = KERNEL_FRAME_RANGE(frame);
		frames[at] = frame;
	}
	return 0;
}

/*
 * Stores the kernel frames. Absolute addresses stay in scratch, which no process
 * maps.
 */
GLOBAL int store_kernel_frames(u64 now)
{
	struct scratch *scratch = scratch_state();

	if (!scratch)
		return 0;
	scratch->range = 0;
	scratch->names_until = now + walk_budget_ns / KERNEL_NAMES_SHARE;
	NOT_UNROLLED
	for (u32 i = 0; i < RECORD_KERNEL_FRAMES_MAX; i += KERNEL_FRAMES_GROUP) {
		if (i >= scratch->sample.record.kernel_frames)
			break;
		store_kernel_group(i);
	}
	return 0;
}

#define HOOK_FRAMES_MAX	 8u
#define LEAVE_FRAMES_MAX (RECORD_KERNEL_FRAMES_MAX + 1 - HOOK_FRAMES_MAX)

/*
 * Drops the frames that the stack of a thread that leaves has before the scheduler's: those of this
 * program and of its tracepoint. There is one more while the tracepoint has several programs.
 * Returns how many frames are left.
 */
INLINE u32 drop_hook(struct scratch *scratch, u32 count)
{
	u32 number = KERNEL_RANGES_MAX;
	struct kernel_range *scheduler = bpf_map_lookup_elem(&kernel_ranges, &number);
	u64 *kernel = scratch->sample.kernel;

	if (!scheduler)
		return count;
	NOT_UNROLLED
	for (u32 i = 0; i < HOOK_FRAMES_MAX && i < count; i++) {
		if (kernel[i] - scheduler->start >= scheduler->end - scheduler->start)
			continue;
		bpf_probe_read_kernel(kernel, LEAVE_FRAMES_MAX * 8, &kernel[i]);
		count -= i;
		break;
	}
	if (count <= LEAVE_FRAMES_MAX)
		return count;
	scratch->sample.record.flags |= RECORD_FLAG_KERNEL_CUT;
	return LEAVE_FRAMES_MAX;
}

/* Takes the kernel stack. off: flag, the thread leaves its CPU. Returns how many frames it has. */
INLINE u32 kernel_part(void *ctx, struct scratch *scratch, int off)
{
	u32 count;

	if (sample_filter.hides & FILTER_NO_KERNEL)
		return 0;
	if (off)
		return drop_hook(scratch, kernel_stack(ctx, scratch, scratch->sample.record.time));
	count = own_kernel_stack(ctx, scratch);
	if (!count)
		count = kernel_stack(ctx, scratch, bpf_ktime_get_ns());
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

INLINE void set_registers(struct walk *walk, const u64 *regs)
{
#define X(number, at) walk->reg[number] = regs[at];
	PT_REGISTERS(X)
#undef X
	walk->address = regs[PT_RIP];
	walk->in_sigreturn = regs[PT_ORIG_RAX] == NR_RT_SIGRETURN;
}

/*
 * Finds the published mappings of (pid, generation), and puts what the slot says into walk->slot.
 * Returns REASON_COUNT, or the reason why there are none.
 */
GLOBAL int find_block(u32 pid, u64 generation)
{
	struct walk *walk = walk_state();
	u32 zero = 0, hash = process_slot_hash(pid);
	struct process_table *table = bpf_map_lookup_elem(&processes, &zero);
	u64 want = process_slot_key(pid, generation), taken = 1;

	if (!walk || !table || !generation)
		return REASON_cut_not_ready;
	NOT_UNROLLED
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
		walk->slot = block;
		return block & 0xffffff ? REASON_COUNT : REASON_cut_no_room;
	}
	return taken ? REASON_cut_no_slot : REASON_cut_not_ready;
}

/* Takes what a slot says of the block. */
INLINE void use_block(struct walk *walk, u64 family)
{
	u64 block = walk->slot;

	walk->block = (u32)(block & 0xffffff) << 4;
	walk->mappings = block >> 24 & BLOCK_MAPPINGS_MAX;
	walk->incomplete = (block & PROCESS_SLOT_INCOMPLETE) != 0;
	walk->seed = cache_seed(family, process_slot_version(block), walk->multiplier);
}

/*
 * Finds the mappings of the process of scratch->sample, or of its parent. Returns REASON_COUNT, or
 * the reason why there are none.
 */
GLOBAL int find_mappings(void)
{
	struct scratch *scratch = scratch_state();
	u32 reason = REASON_cut_not_ready;

	if (!scratch)
		return REASON_lost_internal;
	struct sample *sample = &scratch->sample;
	u64 pid = sample->record.pid, number = sample->record.generation;

	scratch->walk.multiplier = cache_multiplier + 2 * (u64)scratch->epoch;
	NOT_UNROLLED
	for (u32 i = 0; i < 2; i++) {
		u32 found = find_block(pid, number);

		if (found == REASON_COUNT) {
			use_block(&scratch->walk, sample->family);
			return found;
		}
		if (i == 0 && found == REASON_cut_no_room)
			return found;
		if (i == 0)
			reason = found;
		pid = sample->base_pid;
		number = sample->base_number;
	}
	return reason;
}

/* Takes the frames of the interpreter whose code the walk has met. */
INLINE void runtime_part(struct scratch *scratch)
{
	struct runtime_list *list = &scratch->walk.list;

	list->told = TOLD_CODE_SAMPLE;
	/* a kept sample is walked later, and maybe by another process's interrupt */
	list->result = scratch->kept ? RUNTIME_NOT_NOW : grant_begin_list();
	if (list->result != RUNTIME_WHOLE)
		return;
	if (!runtime_begin())
		walk_all();
	grant_end_list();
}

/*
 * Takes the list before the stack, where a sample of the process had a deep recursion: its stack
 * takes all the time that there is. The stack keeps an eighth of the time.
 */
INLINE void list_first(struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;

	if (scratch->kept || !scratch->deep_left ||
	    scratch->deep != scratch->sample.record.generation)
		return;
	scratch->deep_left--;
	walk->list.told = TOLD_CODE_SAMPLE;
	if (grant_begin_list() != RUNTIME_WHOLE)
		return;
	walk->marked = scratch->deep_address;
	if (!runtime_begin() && runtime_may_be_first(&walk->list)) {
		walk->is_list_first = 1;
		scratch->deep_runtime = walk->mapping_runtime;
		walk->reserved = walk_budget_ns / 8;
		walk->deadline -= walk->reserved;
		return;
	}
	walk->list.on = 0;
	grant_end_list();
}

#define DEEP_SAMPLES 64u /* after a deep recursion: so many samples take the list first */

/* Takes a list that came first for none where the innermost interpreter is another one. */
INLINE void check_first(struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;

	if (walk->marks &&
	    (table_find_mapping(walk->marked) || walk->mapping_runtime != scratch->deep_runtime)) {
		walk->list.result = RUNTIME_NONE_MET;
		scratch->deep_left = 0;
	}
}

/* Walks the stack, and the list of an interpreter whose code the stack has. */
INLINE void stack_and_list(struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;

	list_first(scratch);
	walk_all();
	if (walk->is_list_first) {
		grant_end_list();
		check_first(scratch);
	} else if (walk->marks) {
		runtime_part(scratch);
	}
	if (walk->marks >= RUNTIME_MARKS_MANY && runtime_may_be_first(&walk->list) &&
	    walk->list.result != RUNTIME_NONE_MET) {
		scratch->deep = scratch->sample.record.generation;
		scratch->deep_address = walk->marked;
		scratch->deep_left = DEEP_SAMPLES;
	}
}

/* Returns the number of words behind the record's head so far. */
INLINE u64 words_so_far(struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;

	return (u64)scratch->sample.record.kernel_frames + walk->frames + walk->list.words +
	       walk->context_words + walk->label_words;
}

/* Stores the context behind all other words. */
INLINE int context_store(struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;
	struct record *record = record_of(scratch);
	u64 at = words_so_far(scratch);

	if (!record)
		return 0;
	at = BOUND(at, RECORD_WORDS_MAX - CONTEXT_WORDS + 1);
	__builtin_memcpy((u64 *)(record + 1) + at, walk->list.memory, CONTEXT_WORDS * 8);
	walk->context_words = CONTEXT_WORDS;
	walk->context = CONTEXT_TAKEN;
	return 0;
}

/* Takes the context of the thread, where the process publishes contexts. */
GLOBAL int context_part(void)
{
	struct scratch *scratch = scratch_state();

	if (!scratch || !(scratch->walk.slot & PROCESS_SLOT_CONTEXT))
		return 0;
	struct walk *walk = &scratch->walk;

	walk->context = scratch->kept ? CONTEXT_NOT_NOW : grant_context(scratch);
	if (walk->context != CONTEXT_NONE || context_take(walk) != CONTEXT_TAKEN)
		return 0;
	return context_store(scratch);
}

/* Reads a text of a label to its place. Returns the bytes that were read. */
#define READ_LABEL(to, bytes, from)                                              \
	({                                                                       \
		u64 most_ = (bytes) > GO_LABEL_BYTES ? GO_LABEL_BYTES : (bytes); \
		most_ = BOUND(most_, GO_LABEL_BYTES + 1);                        \
		if (bpf_probe_read_user((to), most_, (void *)(from)))            \
			most_ = 0;                                               \
		most_;                                                           \
	})

/* Stores a label behind all other words. Texts that cannot be read are empty. */
GLOBAL int store_label(u32 number)
{
	struct scratch *scratch = scratch_state();
	struct record *record = scratch ? record_of(scratch) : NULL;

	if (!record)
		return 0;
	struct walk *walk = &scratch->walk;
	const struct walk_label *label = &walk->label[number & (GO_LABELS_MAX - 1)];
	u64 at = words_so_far(scratch);

	at = BOUND(at, RECORD_WORDS_MAX - GO_LABEL_WORDS + 1);
	u64 *words = (u64 *)(record + 1) + at;
	u64 head = READ_LABEL(&words[1], label->key_bytes, label->key);

	head |= READ_LABEL(&words[1 + GO_LABEL_BYTES / 8], label->value_bytes, label->value) << 8;
	if (label->key_bytes > GO_LABEL_BYTES)
		head |= GO_LABEL_CUT;
	if (label->value_bytes > GO_LABEL_BYTES)
		head |= GO_VALUE_CUT;
	words[0] = head;
	walk->label_words += GO_LABEL_WORDS;
	return 0;
}

/*
 * Takes the labels of the goroutine, where the worker says that the process has some. The worker
 * cannot ask for them: the loader sets go_labels, and without it the verifier removes all this.
 */
GLOBAL int labels_part(void)
{
	struct scratch *scratch = scratch_state();
	struct record *record = scratch ? record_of(scratch) : NULL;

	if (!go_labels || !record || !(scratch->walk.slot & PROCESS_SLOT_LABELS))
		return 0;
	struct walk *walk = &scratch->walk;

	walk->labels = scratch->kept ? LABELS_NOT_NOW : grant_begin_labels();
	if (walk->labels != LABELS_TAKEN)
		return 0;
	go_find_labels();
	if (walk->labels >= LABELS_CUT) {
		u64 at = words_so_far(scratch);

		((u64 *)(record + 1))[BOUND(at, RECORD_WORDS_MAX)] = walk->goroutine;
		walk->label_words = 1;
		NOT_UNROLLED
		for (u32 i = 0; i < GO_LABELS_MAX; i++) {
			if (i >= walk->label_count)
				break;
			store_label(i);
		}
	}
	grant_end_labels();
	return 0;
}

/* In this time the dynamic linker still maps: a missing mapping is on its way to the worker. */
#define NEW_FOR_NS 100000000ull

/* Walks the user part. began: the time from which the budget counts. Returns why the walk ended. */
INLINE u32 user_part(void *ctx, struct scratch *scratch, u64 began)
{
	struct walk *walk = &scratch->walk;
	struct sample *sample = &scratch->sample;
	u32 reason = sample->record.reason;

	if (reason == REASON_end_no_user || reason == REASON_end_exec || reason == REASON_cut_exec)
		return reason;
	set_registers(walk, sample->regs);
	walk->copy[0] = sample->copy[0];
	walk->copy[1] = sample->copy[1];
	walk->go.layouts = 0;
	if (scratch->kept)
		walk->go = sample->go;
	walk->code_start = sample->code_start;
	walk->code_end = sample->code_end;
	walk->deadline = began + walk_budget_ns;
	walk->looked = began;
	walk->extension = walk_extension_ns - scratch->late;
	walk->forgiving = walk_extension_ns ? WALK_STALLS : 0;
	if (sample->record.kernel_frames)
		walk->look_at = 1; /* the kernel part may have used the budget up */
	observe_walk(ctx, scratch);
	if (reason == REASON_COUNT)
		reason = find_mappings();
	if (reason == REASON_COUNT) {
		stack_and_list(scratch);
		context_part();
		labels_part();
		if (walk->reason == REASON_cut_no_mapping &&
		    sample->record.time - sample->born < NEW_FOR_NS)
			return REASON_cut_not_ready;
		return walk_result(walk);
	}
	/* the pc alone says where the time went */
	if (walk->address < WALK_ADDRESS_END && !walk_emit(walk, walk->address | FRAME_EXACT))
		walk->frames++;
	return reason;
}

/* ---- the record ---- */

/* Makes room for the largest record. Returns 0 when the worker has not drained the ring. */
INLINE int reserve(struct scratch *scratch, u32 cpu)
{
	u32 zero = 0;
	u64 at = scratch->head & (ring_bytes - 1);

	if (at > ring_bytes - RECORD_BYTES_MAX)
		scratch->head += ring_bytes - at;
	scratch->waited_for = 0;
	/* mostly: the tail is in another page, and only rises */
	if (scratch->head + RECORD_BYTES_MAX - scratch->drained <= ring_bytes / 2)
		return 1;
	struct ring_tails *tail = bpf_map_lookup_elem(&tails, &zero);

	if (!tail)
		return 0;
	u64 read = *(volatile u64 *)&tail->tail[BOUND((u64)cpu, ABI_MAX_CPUS)];

	scratch->drained = read;
	scratch->waited_for = scratch->head - read > ring_bytes / 2;
	return scratch->head + RECORD_BYTES_MAX - read <= ring_bytes;
}

/* Stores the word of a thread that leaves its CPU behind all other words. Returns its bytes. */
INLINE u64 off_store(struct scratch *scratch, struct record *record)
{
	u64 at = words_so_far(scratch);

	at = BOUND(at, RECORD_WORDS_MAX);
	((u64 *)(record + 1))[at] = scratch->sample.off;
	return 8 * OFF_WORDS;
}

INLINE void commit(struct scratch *scratch, struct record *record, struct counters *count,
		   u32 reason)
{
	struct walk *walk = &scratch->walk;
	const struct record *head = &scratch->sample.record;
	u64 bytes = sizeof(*record) + 8 * words_so_far(scratch);

	if (head->flags & RECORD_FLAG_OFF_CPU)
		bytes += off_store(scratch, record);
	count->reason[BOUND((u64)reason, REASON_COUNT)]++;
	count->bytes += bytes;
	count->kernel_frames += head->kernel_frames;
	count->user_frames += walk->frames;
	count->cache_trail += walk->trail_hits;
	count->cache_text += walk->text_hits;
	count->cache_miss += walk->misses;
	count->fallback_frames += walk->fallbacks;
	__builtin_memcpy(&record->time, &head->time, sizeof(*head) - sizeof(head->commit));
	record->user_frames = walk->frames;
	record->runtime_words = walk->list.words;
	record->runtime = walk->list.result;
	record->context = walk->context;
	record->labels = walk->labels;
	record->label_words = walk->label_words;
	record->reason = reason;
	if (walk->before)
		record->flags = head->flags | RECORD_FLAG_LIST_FIRST;
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

/*
 * Returns the reason of a sample whose memory is not that of the process's entry. Within execve(2)
 * the task has the new program's memory before on_exec(). Its saved registers are those of the old
 * program, whose stack is gone: so the frames of the kernel are the whole stack. The task reaches
 * user mode only after on_exec().
 */
INLINE u32 reason_of_exec(const struct record *record)
{
	if (record->flags & RECORD_FLAG_KERNEL_MODE)
		return REASON_end_exec;
	return REASON_cut_exec;
}

/* Takes the user part of a sample, up to the walk. Returns the reason, or REASON_COUNT. */
INLINE u32 take_user(struct sample *sample, struct task_struct *task,
		     const struct generation *generation)
{
	u64 cs;

	if (bpf_probe_read_kernel(sample->regs, PT_WORDS * 8, task_registers(task)))
		return REASON_end_no_user;
	cs = sample->regs[PT_CS];
	if ((cs & CS_RPL_USER) != CS_RPL_USER)
		return REASON_end_no_user;
	sample->family = generation->family;
	sample->born = generation->born;
	sample->base_number = generation->base_number;
	sample->base_pid = generation->base_pid;
	if (generation->mm != task_mm(task))
		return reason_of_exec(&sample->record);
	return cs == CS_USER32 ? REASON_cut_compat : REASON_COUNT;
}

/* ---- threads that leave their CPU ---- */

INLINE struct off_cpu *off_cpu_now(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&off_cpus, &cpu);
}

/* Returns when the current thread left its CPU. A global function: the verifier sees one value. */
GLOBAL u64 off_time(void)
{
	struct off_cpu *cpu = off_cpu_now();

	return cpu ? cpu->taken : 0;
}

/* Has EVENT_WAIT tell the worker when the thread runs again. */
INLINE void off_expect(void)
{
	u32 thread = (u32)bpf_get_current_pid_tgid();
	struct off_wait *wait = bpf_map_lookup_elem(&off_waits, &thread);

	if (wait)
		wait->left = bpf_ktime_get_ns(); /* the look-up takes long where caches are cold */
}

/*
 * Counts the time that a stack took, by which on_switch draws the next ones. The wait begins behind
 * the sampler, if the thread has a record.
 */
GLOBAL int off_end(u64 began, u32 has_record)
{
	struct off_cpu *cpu = off_cpu_now();
	u64 now = bpf_ktime_get_ns();

	if (cpu)
		cpu->spent += now - began;
	if (has_record)
		off_expect();
	return 0;
}

INLINE void off_begin(struct sample *sample)
{
	struct off_cpu *cpu = off_cpu_now();

	if (cpu)
		sample->off = cpu->word;
	sample->record.flags = RECORD_FLAG_OFF_CPU;
}

/* ---- taking samples ---- */

/* Returns the code segment of what is interrupted: that of the kernel where a thread leaves. */
INLINE u64 segment_of(void *ctx, int off)
{
	return off ? 0 : ((volatile u64 *)ctx)[PT_CS];
}

/*
 * Takes a sample of a task that passed the filter, up to the walk. off: flag, the thread leaves its
 * CPU. The flag is a constant, so that each program has its own branches alone.
 */
INLINE void take(void *ctx, int off, struct scratch *scratch, u64 id, struct task_struct *task,
		 const struct generation *generation, u64 now)
{
	struct sample *sample = &scratch->sample;
	struct record *record = &sample->record;

	record->time = now;
	record->generation = generation ? generation->number : 0;
	record->pid = id >> 32;
	record->tid = (u32)id;
	record->cpu = scratch->cpu;
	bpf_get_current_comm(record->comm, sizeof(record->comm));
	record->flags = record->kernel_frames = 0;
	sample->off = 0;
	if (off)
		off_begin(sample);
	if ((segment_of(ctx, off) & CS_RPL_USER) != CS_RPL_USER) {
		record->flags |= RECORD_FLAG_KERNEL_MODE;
		record->kernel_frames = kernel_part(ctx, scratch, off);
	}
	record->reason = REASON_end_no_user;
	sample->copy[0].bytes = sample->copy[1].bytes = 0;
	sample->code_start = sample->code_end = 0;
	if (sample_filter.hides & FILTER_NO_USER)
		return;
	if (generation)
		record->reason = take_user(sample, task, generation);
}

/* Begins a sample on this CPU. Returns 0 without room in the ring, which is counted. */
GLOBAL int begin_sample(void)
{
	struct scratch *scratch = scratch_state();
	struct counters *count = counters_now();
	u32 epoch = worker_epoch;

	if (!scratch || !count)
		return 0;
	scratch->cpu = bpf_get_smp_processor_id();
	if (scratch->epoch != epoch) {
		scratch->head = RING_START(epoch);
		scratch->drained = 0;
	}
	scratch->epoch = epoch;
	if (reserve(scratch, scratch->cpu))
		return 1;
	count->reason[REASON_lost_ring_full]++;
	return 0;
}

/* Excludes kernel threads, and tasks in their exit, whose process may have no entry any more. */
INLINE int has_user_stack(struct task_struct *task)
{
	return task_mm(task) && !(task_flags(task) & (PF_KTHREAD | PF_EXITING));
}

/* Returns whether the task has the memory of a program that on_exec() has not told of yet. */
INLINE int is_in_exec(struct task_struct *task, const struct generation *known)
{
	return known && known->mm != task_mm(task);
}

#define DENIED_COUNTED (1u << 29) /* the readings of CPU time count the process */

/*
 * Returns the verdict on a sample, or 0: by the entry of the process, or by the task's present
 * state. Updates the entry, and tells the worker.
 */
INLINE u32 judge_sample(struct task_struct *task, u32 pid, struct generation *known)
{
	u32 flags = task_flags(task), denied;

	if (!known) {
		if (flags & PF_EXITING && is_denied_exit(task, pid))
			return DENIED_OTHERWISE | (has_ended() ? DENIED_COUNTED : 0);
		denied = denies_now(task);
		if (denied && !(flags & PF_EXITING))
			first_sight(pid, task_mm(task), denied, 1, GIVEN_BY_SAMPLER);
		return denied ? denied | DENIED_COUNTED : 0;
	}
	if (known->denied)
		return known->denied | (known->counted ? DENIED_COUNTED : 0);
	/* setuid() has no hook */
	if (!(deny_kinds & DENY_BIT(DENY_UID)))
		return 0;
	denied = denies_task(number_of(task), 0, 0, DENY_BIT(DENY_UID));
	if (!denied)
		return 0;
	known->counted = 1;
	known->denied = denied;
	tell(EVENT_EXIT, pid, known->number, 0, 0);
	return denied | DENIED_COUNTED;
}

INLINE void count_denied(struct counters *count, u32 verdict)
{
	u32 rule = verdict & DENIED_RULE;
	u64 *samples = bpf_map_lookup_elem(&denied_samples, &rule);

	count->denied++;
	if (verdict & DENIED_COUNTED)
		count->denied_counted++;
	if (samples)
		__sync_fetch_and_add(samples, 1);
}

/* Returns whether sample_interval_ns forbids this sample. */
INLINE int is_too_many(struct scratch *scratch, u64 now)
{
	if (scratch->due > now + SAMPLES_SAVED_NS)
		return 1;
	scratch->due = (scratch->due > now ? scratch->due : now) + sample_interval_ns;
	return 0;
}

/* Returns whether the command line filters the sample. cs: of the interrupted context. */
INLINE int is_filtered(struct task_struct *task, const struct generation *known, u64 cs)
{
	if (sample_filter.hides & FILTER_NO_KERNEL &&
	    (!has_user_stack(task) || is_in_exec(task, known)))
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
	u32 verdict = 0;

	if (!pid || !count || !wanted_now())
		return 0;
	if (filter_mode == FILTER_TARGETS && !known && !is_target(pid) && !has_ended())
		return 0;
	if (deny_kinds && !(task_flags(task) & PF_KTHREAD))
		verdict = judge_sample(task, pid, known);
	if (verdict) {
		count_denied(count, verdict);
		return 1;
	}
	if (!resting && !is_filtered(task, known, cs))
		return 0;
	count->filtered++;
	return 1;
}

/* Returns whether the current task is not sampled in this interrupt. */
INLINE int leaves_out(void *ctx, int off)
{
	if (draining)
		return 1;
	if (off_cpu == OFF_MODE_ONLY && !off)
		return 1;
	return (LEAVES_OUT || resting) && sample_is_left_out(segment_of(ctx, off));
}

/* Takes a sample of the current task into scratch->sample. Returns 0 when there is none. */
INLINE int take_now(void *ctx, int off, struct scratch *scratch, struct counters *count, u64 now)
{
	u64 id = bpf_get_current_pid_tgid();
	u32 pid = id >> 32;
	struct task_struct *task = task_now();
	struct generation *generation = NULL;

	if (!id || !wanted_now())
		return 0;
	int has_user = has_user_stack(task);

	if (has_user || filter_mode == FILTER_TARGETS)
		generation = bpf_map_lookup_elem(&generations, &pid);
	if (filter_mode == FILTER_TARGETS && !generation && !is_target(pid) && !has_ended())
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
	/* from here on an NMI that interrupts on_leave takes no sample, and no lock of a map */
	scratch->busy = 1;
	if (!has_user) {
		generation = NULL;
	} else if (!generation) {
		generation = first_sight(pid, task_mm(task), 0, 0, GIVEN_BY_SAMPLER);
		if (!generation) {
			count->reason[REASON_lost_generation]++;
			scratch->busy = 0;
			return 0;
		}
	} else {
		meet_again(pid, generation, worker_epoch);
	}
	if (generation)
		locate(generation, worker_epoch);
	if (!begin_sample()) {
		scratch->busy = 0;
		return 0;
	}
	scratch->kept = 0;
	scratch->late = 0;
	scratch->unkept = generation && generation->unkept;
	if (off)
		count->off_taken++;
	take(ctx, off, scratch, id, task, generation, now);
	return 1;
}

enum pick {
	PICK_NONE,
	PICK_WAITS, /* the sample goes on waiting */
	PICK_TAKEN
};

/* Takes the kept sample that has waited longest into scratch->sample, if it can be walked. */
GLOBAL int pick_kept(u64 began)
{
	struct scratch *scratch = scratch_state();
	u32 number = 0;

	if (!scratch || bpf_map_pop_elem(&kept_queue, &number))
		return PICK_NONE;
	struct kept *slot = bpf_map_lookup_elem(&kept, &number);

	if (!slot)
		return PICK_NONE;
	scratch->kept = number + 1;
	scratch->unkept = 0;
	bpf_probe_read_kernel(&scratch->sample, sizeof(scratch->sample), &slot->sample);
	if (scratch->sample.epoch != worker_epoch || !scratch->sample.copy[0].bytes) {
		lose_kept(slot);
		return PICK_NONE;
	}
	if (find_mappings() == REASON_cut_not_ready && put_back(scratch, began))
		return PICK_WAITS;
	return PICK_TAKEN;
}

#define PICK_TRIES 4u

/* Tries the samples that have waited longest. Returns whether scratch->sample is one of them. */
GLOBAL int pick_any(u64 began)
{
	NOT_UNROLLED
	for (u32 i = 0; i < PICK_TRIES; i++) {
		u32 pick = pick_kept(began);

		if (pick != PICK_WAITS)
			return pick == PICK_TAKEN;
	}
	return 0;
}

/*
 * Takes a kept sample into scratch->sample, if there is time for a walk in this interrupt. Returns
 * 0 when there is none. At low rates the walk has a budget of its own, out of the extension: where
 * all processes are short, each interrupt keeps a sample. Interrupts that also walked none would
 * soon leave no place free.
 */
INLINE int take_kept(struct scratch *scratch, u64 began)
{
	if (!kept_count || scratch->busy)
		return 0;
	u64 late = bpf_ktime_get_ns() - began;

	if (late > (walk_extension_ns ? walk_extension_ns : walk_budget_ns / 2))
		return 0;
	scratch->late = walk_extension_ns ? late : 0;
	scratch->busy = 1;
	if (pick_any(began)) {
		if (begin_sample())
			return 1;
		forget_kept();
	}
	scratch->busy = 0;
	return 0;
}

/* Gives up a sample whose record has no place. */
INLINE void give_up(struct scratch *scratch, struct counters *count)
{
	count->reason[REASON_lost_internal]++;
	if (scratch->kept)
		forget_kept();
	scratch->busy = 0;
}

/*
 * Writes the sample's record, or keeps the sample for later. A global function: the verifier sees
 * it once, and not once for each way on which a walk ends.
 */
GLOBAL int end_sample(u32 reason, u64 began)
{
	struct scratch *scratch = scratch_state();
	struct counters *count = counters_now();
	struct record *record = scratch ? record_of(scratch) : NULL;

	if (!count || !record)
		return 0;
	if (reason != REASON_cut_not_ready || !keeps(scratch, began)) {
		commit(scratch, record, count, reason_told(scratch, reason));
		if (scratch->kept || scratch->unkept)
			note_kept(&scratch->sample.record, reason);
		if (scratch->kept)
			forget_kept();
		scratch->waited_for |= waits_for_worker(reason);
	}
	observe_sample(scratch, record, reason);
	scratch->busy = 0;
	if (scratch->waited_for)
		wake_worker();
	return 0;
}

/* Walks the sample, and ends it. */
INLINE void finish(void *ctx, struct scratch *scratch, struct counters *count, u64 began)
{
	if (!record_of(scratch)) {
		give_up(scratch, count);
		return;
	}
	scratch->began = began;
	walk_init(&scratch->walk);
	if (scratch->sample.record.kernel_frames)
		store_kernel_frames(began + scratch->late);
	end_sample(user_part(ctx, scratch, began + scratch->late), began);
}

SEC("perf_event")
int on_sample(void *ctx)
{
	u64 now = bpf_ktime_get_ns();

	/* A loop has one copy of finish(); a function would be one call too deep for verifiers. */
	NOT_UNROLLED
	for (u32 round = 0; round < 2; round++) {
		struct counters *count = counters_now();
		struct scratch *scratch = scratch_state();

		if (!count || !scratch)
			return 0;
		int taken = round ? take_kept(scratch, now)
				  : !leaves_out(ctx, 0) && take_now(ctx, 0, scratch, count, now);

		if (taken)
			finish(ctx, scratch, count, now);
		/* the verifier must see a count, not a flag that the compiler makes of it */
		asm volatile("" : "+r"(round));
	}
	return 0;
}

/*
 * Takes the stack of a thread that leaves its CPU and was drawn: on_switch of off_cpu.bpf.c goes on
 * here. The scheduler waits: kept samples are left to the clock.
 */
SEC("?tp_btf/sched_switch")
int on_leave(void *ctx)
{
	struct counters *count = counters_now();
	struct scratch *scratch = scratch_state();
	u64 left = off_time();
	int taken;

	if (!count || !scratch || !left)
		return 0;
	taken = !leaves_out(ctx, 1) && take_now(ctx, 1, scratch, count, left);
	if (taken)
		finish(ctx, scratch, count, left);
	off_end(left, taken);
	return 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples that wait for the mappings of their process. A sample is kept with its registers and the
 * stack, and a later tick of any CPU walks the copy. The copy has no code, so that BPF looks at the
 * calls in front of return addresses when it makes the copy. A copy may have a second stack: that
 * which a signal has interrupted, or which Go's runtime has left.
 *
 * The includer supplies what its kernels offer (kernel_*.bpf.h).
 */
#ifndef KEYHOLE_BPF_KEEP_BPF_H
#define KEYHOLE_BPF_KEEP_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "bpf/config.bpf.h"
#include "bpf/env.bpf.h"
#include "bpf/life.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/walk/step.bpf.h"

#define KEPT_PIECES	4u /* pages, of which the first may be a part */
#define KEPT_PIECE	4096u
#define KEPT_LINE_WORDS 16u /* between two looks at the clock */
#define KEPT_LINES	(KEPT_STACK_BYTES / 8 / KEPT_LINE_WORDS)
#define KEPT_LIBRARIES	(7ull << 44) /* mmap(2) begins below the stack and goes down */

#define STACK_WITHOUT_END (~0ull)

/* ---- the copy ---- */

/* Returns where to begin the copy of a stack. */
INLINE u64 copy_start(u64 sp)
{
	u64 from = sp - WALK_RED_ZONE, word;

	/* the page below may never have been touched */
	if ((from ^ sp) & ~(KEPT_PIECE - 1ull))
		from = sp & ~(KEPT_PIECE - 1ull);
	/* a fault may be about to make the lowest page */
	if (bpf_probe_read_user(&word, sizeof(word), (void *)sp))
		from = (sp | (KEPT_PIECE - 1ull)) + 1;
	return from;
}

/*
 * Makes a copy of the stack of a kept sample up to `high`, as far as there is room behind its first
 * `before` bytes. The number of bytes is in memory only: a known range would cost the verifier
 * states.
 */
GLOBAL int copy_stack(u32 number, u32 which, u64 before, u64 sp, u64 high)
{
	struct kept *slot = bpf_map_lookup_elem(&kept, &number);

	if (!slot)
		return 0;
	struct stack_copy *copy = &slot->sample.copy[BOUND((u64)which, STACK_COPIES)];
	struct mm_struct *mm = BPF_CORE_READ(task_now(), mm);
	u64 top = BPF_CORE_READ(mm, start_stack), end = high;
	volatile u64 *copied = &copy->bytes;

	sp &= ~7ull;
	if (top >= sp && top + 8 < end)
		end = top + 8;
	copy->start = copy_start(sp);
	copy->at = number_of(slot->stack) + before;
	*copied = 0;
	if (copy->start >= end)
		return 0;
	NOT_UNROLLED
	for (u32 i = 0; i < KEPT_PIECES; i++) {
		u64 done = *copied, to = before + done, at = *(volatile u64 *)&copy->start + done;
		u64 bytes = KEPT_PIECE - (at & (KEPT_PIECE - 1));

		if (bytes > end - at)
			bytes = end - at;
		bytes = BOUND(bytes, KEPT_PIECE + 1);
		if (!bytes || to > KEPT_STACK_BYTES - KEPT_PIECE)
			break;
		to = BOUND(to, KEPT_STACK_BYTES - KEPT_PIECE + 1);
		if (bpf_probe_read_user((u8 *)slot->stack + to, bytes, (void *)at))
			break;
		*copied = done + bytes;
	}
	return 0;
}

/* Remembers a word, or its like with flags, as one about which walk_copy_calls() says yes. */
GLOBAL int keep_word(u32 number, u64 word)
{
	struct kept *slot = bpf_map_lookup_elem(&kept, &number);
	u32 place = kept_place(word);

	if (!slot)
		return 0;

	NOT_UNROLLED
	for (u32 i = 0; i < KEPT_PROBES; i++) {
		u64 *call = &slot->call[(place + i) & (KEPT_CALLS - 1)];

		if (*call && *call != word)
			continue;
		*call = word;
		break;
	}
	return 0;
}

/* Words from a handler's return address to the registers in the ucontext_t: see walk_signal(). */
#define KEPT_CONTEXT_SP 21u
#define KEPT_CONTEXT_PC 22u

/*
 * Keeps what the walk needs to leave a signal's frame: the interrupted pc, and the interrupted
 * stack if that is another one. A full copy of the handler's stack makes room behind the registers.
 * The word may be of a handler that has returned: so a copy with room loses nothing.
 */
INLINE void keep_signal(u32 number, struct kept *slot, u32 at)
{
	u64 pc = slot->stack[(at + KEPT_CONTEXT_PC) & (KEPT_STACK_BYTES / 8 - 1)];
	u64 sp = slot->stack[(at + KEPT_CONTEXT_SP) & (KEPT_STACK_BYTES / 8 - 1)];
	u64 used = ((u64)at + KEPT_CONTEXT_PC + 1) * 8;
	struct stack_copy *copy = slot->sample.copy;

	if (used > copy->bytes || !walk_executable(pc))
		return;
	keep_word(number, pc | KEPT_SAVED_PC);
	if (stack_copy_holds(copy, 8, sp) || copy[1].bytes)
		return;
	if (copy->bytes > KEPT_STACK_BYTES - KEPT_PIECE)
		copy->bytes = used;
	copy_stack(number, 1, copy->bytes, sp, STACK_WITHOUT_END);
}

/* Remembers a word of the copy if it is an address behind a call, or that of a signal return. */
GLOBAL int keep_call(u32 number, u32 at)
{
	struct kept *slot = bpf_map_lookup_elem(&kept, &number);
	u64 code[2] = {0, 0};

	if (!slot)
		return 0;
	u64 word = slot->stack[at & (KEPT_STACK_BYTES / 8 - 1)];

	if (bpf_probe_read_user(code, sizeof(code), (void *)(word - 8)))
		return 0;
	if (code[1] == SIGRETURN_CODE) {
		keep_word(number, word | KEPT_SIGRETURN);
		if (slot->sample.copy[0].start + at * 8ull >= slot->sample.regs[PT_RSP])
			keep_signal(number, slot, at);
	} else if (walk_is_call(code[0])) {
		keep_word(number, word);
	}
	return 0;
}

/* Has no branch: each branch would double the verifier's states. size: below 2^63. */
INLINE u64 is_below(u64 x, u64 size)
{
	return ((x - size) & ~x) >> 63;
}

/*
 * Returns whether a word may be an address of the program's code, or of a library. Libraries lie
 * below the main stack, but above the stacks of most threads. Each other word would cost a read, or
 * a fault of 1 us.
 */
INLINE u64 may_be_code(const struct sample *sample, u64 word)
{
	const struct stack_copy *copy = sample->copy;
	u64 program = is_below(word - sample->code_start, sample->code_end - sample->code_start);
	u64 stack = is_below(word - copy[0].start, copy[0].bytes) |
		    is_below(word - copy[1].start, copy[1].bytes);
	u64 library = is_below(word - KEPT_LIBRARIES, WALK_ADDRESS_END - KEPT_LIBRARIES);

	return program | (library & ~stack);
}

/* Looks at some words of the copy. */
GLOBAL int keep_line(u32 number, u32 first)
{
	struct kept *slot = bpf_map_lookup_elem(&kept, &number);

	if (!slot)
		return 0;

	NOT_UNROLLED
	for (u32 i = 0; i < KEPT_LINE_WORDS; i++) {
		u64 word = slot->stack[(first + i) & (KEPT_STACK_BYTES / 8 - 1)];

		if (may_be_code(&slot->sample, word))
			keep_call(number, first + i);
	}
	return 0;
}

/* Remembers which words of the copy are behind calls, as long as the time lasts. */
INLINE void keep_calls(u32 number, const struct kept *slot)
{
	const volatile struct stack_copy *copy = slot->sample.copy;

	NOT_UNROLLED
	for (u32 i = 0; i < KEPT_LINES; i++) {
		/* a line may add a copy */
		if (i * KEPT_LINE_WORDS * 8 >= copy[0].bytes + copy[1].bytes || walk_late())
			break;
		keep_line(number, i * KEPT_LINE_WORDS);
	}
}

/* ---- Go ---- */

/* Finds what the thread runs: sets walk->go. */
INLINE void find_go(struct walk *walk)
{
	u64 layouts = 0;

	if (!go_find(1, GO_THREAD_LOCAL) && walk->go.goroutine)
		layouts = 2;
	else if (!go_find(0, GO_THREAD_LOCAL))
		layouts = walk->go.goroutine ? 1 : 3; /* no goroutine, in either */
	walk->go.layouts = layouts;
}

/* Returns where the goroutine has left its stack, or 0. sp, r12: of the sample. */
INLINE u64 left_stack(struct walk *walk, u64 sp, u64 r12)
{
	u64 left = walk->go.sp;

	if (go_holds(walk, sp) || runtime_read_word(walk_thread_pointer() + GO_THREAD_LOCAL))
		return 0;
	/* for a clock, the goroutine itself is on the thread's stack: see runtime.nanotime1 */
	if (walk->list.word == walk->go.goroutine)
		left = r12;
	else if (walk->list.word != walk->go.system)
		return 0;
	return go_holds(walk, left) ? left : 0;
}

/*
 * Keeps what the walk needs where Go's runtime has changed stacks: the words that go.bpf.h reads,
 * and the goroutine's stack. The copy of the thread's own stack ends where that stack ends, and
 * makes room.
 */
GLOBAL int keep_go(u32 number)
{
	struct kept *slot = bpf_map_lookup_elem(&kept, &number);
	struct walk *walk = walk_state();

	if (!slot || !walk)
		return 0;
	const u64 *regs = slot->sample.regs;
	struct stack_copy *copy = slot->sample.copy;
	u64 left, above;

	find_go(walk);
	walk->go.call = 0;
	if (walk->go.layouts && walk->go.goroutine && !walk_read_code(walk->go.pc - 8) &&
	    walk_is_call(walk->code)) {
		walk->go.call = walk->code;
		keep_word(number, walk->go.pc);
	}
	slot->sample.go = walk->go;
	if (!walk->go.layouts)
		return 0;
	left = left_stack(walk, regs[PT_RSP], regs[PT_R12]);
	if (!left || runtime_read_word(walk->go.system + GO_STACK_HIGH))
		return 0;
	above = walk->list.word - copy->start;
	/* a copy of no bytes is none, and its walk would read memory */
	if (above >= 8 && above < copy->bytes)
		copy->bytes = above & ~7ull;
	if (copy->bytes <= KEPT_STACK_BYTES - KEPT_PIECE)
		copy_stack(number, 1, copy->bytes, left, walk->go.high);
	return 0;
}

/* ---- places ---- */

#define KEPT_TRIES 4u

/* Finds a free place of this CPU. The places of a CPU become free in about their order. */
INLINE struct kept *find_place(struct scratch *scratch, u32 *ret_number)
{
	NOT_UNROLLED
	for (u32 i = 0; i < KEPT_TRIES; i++) {
		u32 number = scratch->kept_next;
		struct kept *slot;

		scratch->kept_next = number + 1 < kept_slots ? number + 1 : 0;
		*ret_number = scratch->cpu * kept_slots + number;
		slot = bpf_map_lookup_elem(&kept, ret_number);
		if (slot && !*(volatile u64 *)&slot->taken)
			return slot;
	}
	return NULL;
}

/* A read that fails fills its target with zeros, of any size. */
INLINE void wipe(struct kept *slot)
{
	bpf_probe_read_kernel(&slot->sample, sizeof(*slot) - sizeof(slot->taken), NULL);
	asm volatile("" ::: "memory");
	*(volatile u64 *)&slot->taken = 0;
}

/*
 * Keeps scratch->sample with the stack. Returns 0 when it cannot be kept. Until its record is
 * written, it counts as cut_not_ready.
 */
GLOBAL int keep_sample(void)
{
	struct scratch *scratch = scratch_state();
	struct counters *count = counters_now();
	u32 number = 0;

	if (!scratch || !count)
		return 0;
	struct sample *sample = &scratch->sample;
	struct kept *slot = find_place(scratch, &number);

	if (!slot)
		return 0;
	struct mm_struct *mm = BPF_CORE_READ(task_now(), mm);

	sample->code_start = BPF_CORE_READ(mm, start_code);
	sample->code_end = BPF_CORE_READ(mm, end_code);
	sample->epoch = worker_epoch;
	bpf_probe_read_kernel(&slot->sample, sizeof(*sample), sample);
	copy_stack(number, 0, 0, sample->regs[PT_RSP], STACK_WITHOUT_END);
	if (!*(volatile u64 *)&slot->sample.copy[0].bytes) {
		wipe(slot);
		return 0;
	}
	if (walk_may_switch())
		keep_go(number);
	keep_calls(number, slot);
	*(volatile u64 *)&slot->taken = 1;
	if (bpf_map_push_elem(&kept_queue, &number, 0)) {
		wipe(slot);
		return 0;
	}
	__sync_fetch_and_add(&kept_count, 1);
	count->reason[REASON_cut_not_ready]++;
	return 1;
}

/* Wipes the place of the kept sample under way, which has its record now or is lost. */
GLOBAL int forget_kept(void)
{
	struct scratch *scratch = scratch_state();
	struct counters *count = counters_now();

	if (!scratch || !count)
		return 0;
	u32 number = scratch->kept - 1;
	struct kept *slot = bpf_map_lookup_elem(&kept, &number);

	if (slot)
		wipe(slot);
	count->kept_done++;
	__sync_fetch_and_add(&kept_count, -1);
	return 0;
}

/* Wipes a sample that was kept for a worker which has ended. The sample stays cut_not_ready. */
INLINE void lose_kept(struct kept *slot)
{
	wipe(slot);
	__sync_fetch_and_add(&kept_count, -1);
}

/* Puts the kept sample under way back, unless it has waited too long. Returns 0 when not. */
INLINE int put_back(struct scratch *scratch, u64 now)
{
	u32 number = scratch->kept - 1;
	/* another CPU may have taken the sample after this interrupt began */
	s64 waited = now - scratch->sample.record.time;

	return waited < (s64)KEPT_FOR_NS && !bpf_map_push_elem(&kept_queue, &number, 0);
}

/*
 * Notes whether the mappings of a process are there. A process whose samples wait in vain may not
 * take the places of others: its samples are kept again once its mappings were found.
 */
INLINE void note_kept(const struct record *record, u32 reason)
{
	u32 pid = record->pid;
	struct generation *known = bpf_map_lookup_elem(&generations, &pid);

	if (known && known->number == record->generation)
		known->unkept = reason == REASON_cut_not_ready;
}

/*
 * Returns the reason that a record gives. A kept sample has a part of the stack and some of its
 * calls. The walk lacks the rest because the process was not ready.
 */
INLINE u32 reason_told(const struct scratch *scratch, u32 reason)
{
	if (!scratch->kept)
		return reason;
	if (reason == REASON_cut_read || reason == REASON_cut_not_a_call)
		return REASON_cut_not_ready;
	return reason;
}

/* Returns whether the sample, whose process is not ready, waits from now on. */
INLINE int keeps(struct scratch *scratch, u64 now)
{
	if (scratch->kept)
		return put_back(scratch, now);
	/* sampling may have stopped meanwhile */
	if (draining || scratch->unkept || !keep_sample())
		return 0;
	tell(EVENT_WAITS, scratch->sample.record.pid, scratch->sample.record.generation, 0, 0);
	return 1;
}

#endif

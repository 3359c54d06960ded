/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Crosses from one stack of a Go program to another one (RULE_SWITCH). Pure C. The includer
 * supplies the environment that bpf/walk/runtime.bpf.h names, and:
 *   walk_may_switch()  whether the policy allows it
 *
 * Go's thread (struct m) has a goroutine (struct g) with the stack that the kernel or C gave it,
 * and runs another goroutine. A goroutine that leaves its stack saves registers in itself.
 *
 * The worker, which writes the rules, may have been taken over. The offsets are constants here. The
 * structures must point to each other, in six words, before any other word counts: other programs
 * have no such words. Then the walk goes on within the goroutine's own stack, as it always does. A
 * refusal has one reason, whatever was refused.
 */
#ifndef KEYHOLE_BPF_WALK_GO_BPF_H
#define KEYHOLE_BPF_WALK_GO_BPF_H

#include "bpf/walk/address.bpf.h"
#include "bpf/walk/list.bpf.h"
#include "bpf/walk/memory.bpf.h"

/* struct g and struct m of src/runtime/runtime2.go, Go 1.16 to 1.26: tests/runtimes/go_layout.sh */
#define GO_STACK_LOW  0u /* in g; a stack grows down from its end */
#define GO_STACK_HIGH 8u
#define GO_THREAD     48u
#define GO_SAVED_SP   56u
#define GO_SAVED_PC   64u
#define GO_SAVED_SELF 72u
#define GO_BYTES      112u /* up to the last saved register */
#define GO_SYSTEM     0u   /* in m */

/*
 * Offsets that are 8 less since Go 1.25, which is layout 1: of curg in struct m, and of the saved
 * rbp in struct g. A table here would be in a section that libbpf does not load.
 */
#define GO_CURRENT(layout)  (GO_CURRENT_116 - 8 * (layout))
#define GO_SAVED_BP(layout) (104u - 8 * (layout))
_Static_assert(GO_CURRENT(1) == GO_CURRENT_125, "layout 1");

#define GO_CODE_NEAR 4096u /* Go's linker keeps the two functions side by side */

/* From the thread pointer to the goroutine, where a program has no other thread-local word */
#define GO_THREAD_LOCAL (-8)

/* ---- the goroutine ---- */

/* Takes the goroutine in list->memory, if it is one of the thread at `thread`. */
INLINE void go_take(struct walk *walk, u64 thread, u32 bp_at)
{
	const struct runtime_list *list = &walk->list;
	struct walk_go *go = &walk->go;

	go->low = runtime_u64(list, GO_STACK_LOW);
	go->high = runtime_u64(list, GO_STACK_HIGH);
	go->sp = runtime_u64(list, GO_SAVED_SP);
	go->pc = runtime_u64(list, GO_SAVED_PC);
	go->bp = runtime_u64(list, bp_at);
	if (runtime_u64(list, GO_THREAD) != thread ||
	    runtime_u64(list, GO_SAVED_SELF) != go->goroutine)
		go->goroutine = 0;
}

/*
 * Finds what the current thread runs: sets walk->go. Returns 0 when all words agree. While a thread
 * changes goroutines it has none. A copy has what its thread ran.
 */
GLOBAL int go_find(u32 layout, s64 at)
{
	struct walk *walk = walk_state();

	layout &= 1;
	if (walk && walk_has_copy(walk))
		return at != GO_THREAD_LOCAL || !(walk->go.layouts >> layout & 1);
	if (!walk || at & 7 || (u64)at + GO_THREAD_LOCAL_MAX >= GO_THREAD_LOCAL_MAX)
		return 1;
	struct runtime_list *list = &walk->list;

	if (runtime_read_word(walk_thread_pointer() + at) ||
	    runtime_read_word(list->word + GO_THREAD))
		return 1;
	u64 thread = list->word;

	if (runtime_read_word(thread + GO_SYSTEM))
		return 1;
	walk->go.system = list->word;
	if (runtime_read_word(walk->go.system + GO_THREAD) || list->word != thread ||
	    runtime_read_word(thread + GO_CURRENT(layout)))
		return 1;
	walk->go.goroutine = list->word;
	if (!list->word)
		return 0;
	if (runtime_read(GO_BYTES, list->word))
		return 1;
	go_take(walk, thread, GO_SAVED_BP(layout));
	return 0;
}

/* Reads a word of a stack into walk->word. Returns 0 when the word was read. */
GLOBAL int go_read_stack(u64 address)
{
	struct walk *walk = walk_state();

	if (!walk || !runtime_is_address(address))
		return 1;
	walk->reads++;
	if (walk_has_copy(walk))
		return walk_read_copy(walk, &walk->word, 8, address);
	return walk_read(&walk->word, 8, address);
}

/* A copy may lack the words. */
INLINE int go_refuse(struct walk *walk)
{
	return walk_end(walk, walk_has_copy(walk) ? REASON_cut_read : REASON_cut_stack_order);
}

/* Returns whether the goroutine's stack has a stack pointer. */
INLINE int go_holds(const struct walk *walk, u64 sp)
{
	return walk->go.goroutine && !(sp & 7) && sp >= walk->go.low && sp < walk->go.high;
}

/* ---- ways ---- */

INLINE u64 go_distance(const struct walk *walk)
{
	return (rule_slots(walk->rule) & GO_SWITCH_DISTANCE_MAX) * 8;
}

INLINE u32 go_operand(const struct walk *walk)
{
	return rule_slots(walk->rule) >> 10 & 15;
}

/* Leaves a frame to its caller: sp is the frame's stack pointer. */
INLINE int go_leave(struct walk *walk, u64 sp)
{
	u64 cfa = sp + go_distance(walk) + 8;

	if (rule_slots(walk->rule) >> 14 & 1) {
		if (go_read_stack(cfa - 16))
			return go_refuse(walk);
		walk->reg[REG_RBP] = walk->word;
	}
	if (go_read_stack(cfa - 8))
		return go_refuse(walk);
	walk->valid &= WALK_CALLEE_SAVED;
	walk->chained = 0;
	return walk_next(walk, cfa, walk->word);
}

/* Goes on where the goroutine has saved its registers. */
INLINE int go_resume(struct walk *walk)
{
	if (!go_holds(walk, walk->go.sp))
		return go_refuse(walk);
	walk->reg[REG_RBP] = walk->go.bp;
	walk->valid &= WALK_CALLEE_SAVED;
	walk->chained = 0;
	return walk_next(walk, walk->go.sp, walk->go.pc);
}

/*
 * Returns whether the goroutine waits behind a call of this function. The stack's other functions
 * may choose another goroutine, and this one's stack is no part of that.
 */
INLINE int go_called_this(struct walk *walk)
{
	if (!walk->go.goroutine)
		return 0;
	if (walk_has_copy(walk))
		walk->code = walk->go.call;
	else if (walk_read_code(walk->go.pc - 8))
		return 0;
	if (!code_calls_directly(walk->code))
		return 0;
	u64 target = walk->go.pc + (s64)(s32)(walk->code >> 32);

	return target - walk->address + GO_CODE_NEAR < 2 * GO_CODE_NEAR;
}

INLINE int go_leave_grown(struct walk *walk)
{
	return go_called_this(walk) ? go_resume(walk) : walk_end(walk, REASON_end_root);
}

/* The function has pushed the goroutine that called it. */
INLINE int go_leave_caller(struct walk *walk)
{
	if (!walk->go.goroutine || go_read_stack(walk->reg[REG_RSP]) ||
	    walk->word != walk->go.goroutine)
		return walk_end(walk, REASON_end_root);
	return go_resume(walk);
}

INLINE int go_leave_cgo(struct walk *walk)
{
	u64 at = walk->reg[REG_RSP] + go_operand(walk) * 8;

	if (go_read_stack(at) || walk->word != walk->go.goroutine || go_read_stack(at - 8))
		return go_refuse(walk);
	u64 sp = walk->go.high - walk->word;

	return go_holds(walk, sp) ? go_leave(walk, sp) : go_refuse(walk);
}

/* The frame on C's stack has C's stack pointer at the callback before, or 0. It lies above. */
INLINE int go_leave_callback(struct walk *walk)
{
	u64 sp = walk->go.callback;

	if (walk_has_copy(walk))
		return walk_end(walk, REASON_cut_read);
	if (!sp) {
		if (runtime_read_word(walk->go.system + GO_SAVED_SP))
			return go_refuse(walk);
		sp = walk->list.word;
	}
	if (go_read_stack(sp) || (walk->word && walk->word - sp >= WALK_REACH))
		return go_refuse(walk);
	walk->go.callback = walk->word;
	return go_leave(walk, sp);
}

INLINE int go_leave_kept(struct walk *walk)
{
	u32 reg = go_operand(walk);
	u64 sp = walk->reg[reg];

	if (!(walk->valid >> reg & 1))
		return walk_end(walk, REASON_cut_unsupported);
	if (!(sp & 7) && sp - walk->reg[REG_RSP] < WALK_REACH)
		return go_leave(walk, sp);
	return go_holds(walk, sp) ? go_leave(walk, sp) : go_refuse(walk);
}

/* The goroutine has its stack already, and goes on at the pc that it has saved. */
INLINE int go_enter(struct walk *walk)
{
	u64 sp = walk->reg[REG_RSP];

	if (!go_holds(walk, sp))
		return go_refuse(walk);
	walk->valid &= WALK_CALLEE_SAVED;
	walk_next(walk, sp, walk->go.pc);
	walk->exact = WALK_PC_SAVED;
	return 0;
}

/*
 * Returns the offset of the goroutine from the thread pointer, or one that go_find() refuses. The
 * dynamic linker has told a library the offset. A copy has no such word.
 */
INLINE s64 go_thread_local(struct walk *walk)
{
	s64 at = rule_offset(walk->rule);

	if (!(rule_slots(walk->rule) & GO_SWITCH_IN_WORD))
		return at;
	if (walk_has_copy(walk) || !walk_is_mapped(walk, walk->address - !walk->exact) ||
	    runtime_read_word(walk->bias + at * 8))
		return 0;
	return walk->list.word;
}

/* Takes the way of walk->rule. Returns 0 to go on, or 1 at the end. */
GLOBAL int go_switch(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	u32 kind = rule_reg(walk->rule), layout = rule_slots(walk->rule) >> 8 & 3;

	/* a copy may be without them: its thread goes on */
	if (walk_has_copy(walk) && !walk->go.layouts)
		return walk_end(walk, REASON_cut_read);
	if (walk->switches++ >= WALK_SWITCHES || go_find(layout, go_thread_local(walk)))
		return go_refuse(walk);
	if (kind == GO_SWITCH_SYSTEM) {
		walk->reg[REG_RBP] = walk->go.bp;
		return go_holds(walk, walk->go.sp) ? go_leave(walk, walk->go.sp) : go_refuse(walk);
	}
	if (kind == GO_SWITCH_GROW)
		return go_leave_grown(walk);
	if (kind == GO_SWITCH_LEAVE)
		return go_leave_caller(walk);
	if (kind == GO_SWITCH_CGO)
		return go_leave_cgo(walk);
	if (kind == GO_SWITCH_CALLBACK)
		return go_leave_callback(walk);
	if (kind == GO_SWITCH_KEPT)
		return go_leave_kept(walk);
	if (kind == GO_SWITCH_ENTER)
		return go_enter(walk);
	if (go_leave(walk, walk->reg[REG_RSP]))
		return 1;
	walk->exact = WALK_PC_SAVED;
	return 0;
}

#endif

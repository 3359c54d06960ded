/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/compare.h"

#include <stdbool.h>
#include <string.h>

#include "bpf/walk/walk.bpf.h"
#include "tests/oracle/captured.h"
#include "tests/oracle/libdw_walk.h"
#include "tests/oracle/rewalk.h"
#include "tests/oracle/snapshot.h"
#include "object/elf/image.h"

#define GAP_MIN	     16 /* smaller gaps belong to the function before them */
#define FUNCTION_MAX 4096
#define NEW_FOR_NS   100000000ull

static u64 address_of(const struct stack *stack, u32 index)
{
	return FRAME_ADDRESS(stack->frame[index]);
}

static bool in_file(const struct stack *stack, u64 address)
{
	const struct area *area = snapshot_find(stack->snapshot, address);

	return area && area->object;
}

/* Returns the number of frames up to the first one in code of no file, this one included. */
static u32 comparable(const struct stack *stack)
{
	for (u32 i = 0; i < stack->frames; i++)
		if (!in_file(stack, address_of(stack, i)))
			return i + 1;
	return RECORD_FRAMES_MAX + 1;
}

static bool is_outside(const struct stack *stack, enum verdict *ret_verdict)
{
	*ret_verdict = CLASS_NOT_READY;
	if (stack->reason == REASON_cut_not_ready || stack->reason == REASON_cut_exec)
		return true;
	*ret_verdict = CLASS_GONE;
	return stack->frames && !snapshot_find(stack->snapshot, address_of(stack, 0));
}

/* ---- what was not captured ---- */

static bool is_within(const struct stack_bytes *part, u64 address)
{
	return part->bytes && address >= part->start && address - part->start < part->bytes;
}

/* Returns whether the capture ends at its last possible page, and not at an unreadable one. */
static bool is_cut_short(const struct stack *stack)
{
	u64 start = (stack->reg[REG_RSP] - CAPTURE_BELOW) & ~(CAPTURE_PAGE - 1ull);

	return stack->part[0].start + stack->part[0].bytes == start + CAPTURE_NEAR * CAPTURE_PAGE;
}

/*
 * A frame with a known stack pointer needs a word that lies in no captured part, but below the end
 * of BPF's walk. The word is in the middle of this stack, or of the stack that the walk came to.
 */
static bool is_beyond(const struct stack *stack, u64 sp, u64 missed)
{
	const struct stack_bytes *end = &stack->part[1];
	u64 word;

	if (!end->bytes || captured_read(stack, missed, 8, &word) == 0)
		return false;
	/*
	 * The word may also lie behind an unreadable page: nothing has touched the middle of the
	 * frame.
	 */
	if (is_within(&stack->part[0], sp) && !is_cut_short(stack) &&
	    missed - (stack->part[0].start + stack->part[0].bytes) < CAPTURE_PAGE)
		return false;
	return missed - (sp - WALK_RED_ZONE) < WALK_REACH && missed < end->start &&
	       end->start - missed < WALK_REACH;
}

/* ---- reasons for a difference ---- */

static bool row_near(const struct stack *stack, u64 pc, int step)
{
	for (u64 i = 1; i < GAP_MIN; i++)
		if (libdw_has_row(stack, (pc + (u64)step * i) | FRAME_EXACT))
			return true;
	return false;
}

/* Rows on both sides: glibc leaves the syscall of clone3() out, which is right for the parent. */
static bool is_gap(const struct stack *stack)
{
	u64 pc = address_of(stack, 0);

	return !libdw_has_row(stack, stack->frame[0]) &&
	       rule_kind(rewalk_rule(stack, stack->frame[0])) != RULE_NONE &&
	       row_near(stack, pc, -1) && row_near(stack, pc, 1);
}

/* Returns the target of the direct call or jump of five bytes that ends at an address, or 0. */
static u64 target_of(const struct stack *stack, u64 address, u8 opcode)
{
	u8 code[5];
	s32 offset;

	if (snapshot_read(stack->snapshot, address - 5, 5, code) < 0 || code[0] != opcode)
		return 0;
	memcpy(&offset, code + 1, 4);
	return address + (u64)(s64)offset;
}

/* Nothing between a function's first byte and the leaf has a row. */
static bool reaches(const struct stack *stack, u64 target, u64 pc)
{
	if (!target || target > pc || pc - target > FUNCTION_MAX)
		return false;
	for (u64 at = target; at <= pc; at++)
		if (libdw_has_row(stack, at | FRAME_EXACT))
			return false;
	return true;
}

/* Our second frame called this function, or a function that only jumps to it. */
static bool is_called(const struct stack *stack)
{
	u64 pc = address_of(stack, 0), target = target_of(stack, address_of(stack, 1), 0xe8);
	u64 jump = target ? target_of(stack, target + 5, 0xe9) : 0;

	return reaches(stack, jump ? jump : target, pc);
}

/* call *r/m64: an optional REX prefix, ff /2 */
static bool ends_indirect_call(const u8 *code, u32 bytes)
{
	u32 at = (code[0] & 0xf0) == 0x40;

	return at + 1 < bytes && code[at] == 0xff && (code[at + 1] >> 3 & 7) == 2;
}

/*
 * The word at the stack pointer is our second frame, behind a call through a register or a table.
 * The row of that frame gives the frame that libdw found by frame pointer.
 */
static bool is_called_by_pointer(const struct stack *stack, u64 next)
{
	u64 caller = address_of(stack, 1), word;
	u8 code[7];

	if (next != address_of(stack, 2) || !libdw_has_row(stack, stack->frame[1]) ||
	    captured_read(stack, stack->reg[REG_RSP], 8, &word) < 0 || word != caller ||
	    snapshot_read(stack->snapshot, caller - sizeof(code), sizeof(code), code) < 0)
		return false;
	for (u32 bytes = 2; bytes <= sizeof(code); bytes++)
		if (ends_indirect_call(code + sizeof(code) - bytes, bytes))
			return true;
	return false;
}

/*
 * The leaf is at the first instruction of a function that the linker calls at the start or the end.
 */
static bool is_entry(const struct stack *stack)
{
	static const char *const names[] = {".init", ".fini", ".init_array", ".fini_array"};
	static const u8 endbr64[4] = {0xf3, 0x0f, 0x1e, 0xfa};
	const struct area *area = snapshot_find(stack->snapshot, address_of(stack, 0));
	u64 pc = area ? address_of(stack, 0) - area->bias : 0, word;
	struct image_bytes part;
	u8 code[4];

	if (!area || !area->object || captured_read(stack, stack->reg[REG_RSP], 8, &word) < 0 ||
	    word != address_of(stack, 1))
		return false;
	if (snapshot_read(stack->snapshot, address_of(stack, 0) - 4, 4, code) == 0 &&
	    memcmp(code, endbr64, 4) == 0)
		pc -= 4;
	for (u32 i = 0; i < 4; i++) {
		if (image_section(area->object->image, names[i], &part) < 0)
			continue;
		if (i < 2 && part.address == pc)
			return true;
		for (size_t at = 0; i >= 2 && at + 8 <= part.size; at += 8)
			if (memcmp(part.bytes + at, &pc, 8) == 0)
				return true;
	}
	return false;
}

/* An earlier snapshot lacked the mapping, and the sample was taken at about that time. */
static bool is_new_mapping(const struct stack *stack, u64 address)
{
	const struct snapshot *first = NULL, *before = NULL;

	if (stack->reason != REASON_cut_no_mapping)
		return false;
	for (const struct snapshot *at = stack->snapshot; at; at = at->next) {
		if (at->pid != stack->pid)
			continue;
		if (snapshot_find(at, address)) {
			first = at;
			before = NULL;
		} else if (!before) {
			before = at;
		}
	}
	return first && before && stack->time < first->time + NEW_FOR_NS;
}

/* The mapping of our last frame, or of the one that is missing behind it. next: its address. */
static bool is_mapped_late(const struct stack *stack, u32 at, u64 next)
{
	return is_new_mapping(stack, next) || is_new_mapping(stack, address_of(stack, at - 1));
}

/* All frames are the same up to an address that is not one of code, at which we stop. */
static bool is_no_code(const struct stack *stack, const struct libdw_frames *theirs, u32 at)
{
	return stack->reason == REASON_cut_not_a_call && theirs->count == at + 1 &&
	       !snapshot_find(stack->snapshot, FRAME_ADDRESS(theirs->frame[at]));
}

/* The slot of a callee-saved register in a rule (bpf/abi.h), 0: it keeps its value. */
static u32 slot_of(u64 rule, u32 reg)
{
	static const u8 order[RULE_SLOTS] = {REG_RBP, REG_RBX, REG_R12, REG_R13, REG_R14, REG_R15};

	for (u32 i = 0; i < RULE_SLOTS; i++)
		if (order[i] == reg)
			return rule_slots(rule) >> (4 * i) & 15;
	return 15;
}

/*
 * A register that the unwind information does not mention keeps its value when the ABI has the
 * callee save it. libdw 0.188 calls such a register undefined, and stops where the next frame's CFA
 * uses the register, as in glibc's lazy binding.
 */
static bool is_unsaid(const struct stack *stack, const struct libdw_frames *theirs, u32 at)
{
	u64 rule = at > 1 ? rewalk_rule(stack, stack->frame[at - 1]) : 0;

	return rule_kind(rule) == RULE_REG && theirs->count == at && !theirs->missed &&
	       !slot_of(rewalk_rule(stack, stack->frame[at - 2]), rule_reg(rule));
}

/* The leaf is the jump with which libgcc enters a landing pad (eh_return): jmp *%rcx. */
static bool is_landing(const struct stack *stack, u64 next)
{
	static const u8 jump[2] = {0xff, 0xe1};
	u8 code[2];

	return stack->reason == REASON_cut_not_a_call && next == stack->reg[REG_RCX] &&
	       snapshot_read(stack->snapshot, address_of(stack, 0), 2, code) == 0 &&
	       memcmp(code, jump, 2) == 0;
}

static enum verdict explain(const struct stack *stack, const struct libdw_frames *theirs,
			    const struct rewalk_frames *again, u32 at)
{
	u64 next = at < theirs->count ? FRAME_ADDRESS(theirs->frame[at]) : 0;
	bool cut = at == stack->frames, row;

	if (!at)
		return CLASS_UNEXPLAINED;
	row = libdw_has_row(stack, stack->frame[at - 1]);
	if (at == 1 && stack->in_sigreturn && !row &&
	    rule_kind(rewalk_rule(stack, stack->frame[0])) == RULE_SIGNAL)
		return CLASS_SIGRETURN;
	if (at == 1 && is_gap(stack))
		return CLASS_GAP;
	if (!row && rule_flags(rewalk_rule(stack, stack->frame[at - 1])) & RULE_FLAG_DERIVED)
		return CLASS_DERIVED;
	if (is_unsaid(stack, theirs, at))
		return CLASS_UNSAID;
	if (at == 1 && !row && stack->frames > 2 && (!next || next == address_of(stack, 2)) &&
	    (is_called(stack) || is_entry(stack) || is_called_by_pointer(stack, next)))
		return CLASS_GUESS;
	if (cut && stack->reason == REASON_cut_no_rule && !row)
		return CLASS_NO_RULE;
	if (cut && next && is_mapped_late(stack, at, next))
		return CLASS_MAPPED;
	if (cut && stack->reason == REASON_cut_not_a_call && again->count > at &&
	    FRAME_ADDRESS(again->frame[at]) == next)
		return CLASS_UNREAD;
	if (cut && is_no_code(stack, theirs, at))
		return CLASS_NO_CODE;
	if (cut && at == 1 && is_landing(stack, next))
		return CLASS_LANDING;
	return CLASS_UNEXPLAINED;
}

/* ---- comparing ---- */

enum verdict compare(const struct stack *stack, const struct libdw_frames *theirs,
		     const struct rewalk_frames *again, u32 *ret_at)
{
	u32 limit = comparable(stack), at = 0;
	enum verdict verdict;

	*ret_at = 0;
	if (is_outside(stack, &verdict))
		return verdict;
	while (at < stack->frames && at < theirs->count &&
	       address_of(stack, at) == FRAME_ADDRESS(theirs->frame[at]) &&
	       (theirs->frame[at] & FRAME_EXACT || !(stack->frame[at] & FRAME_EXACT)))
		at++;
	*ret_at = at;
	if (at >= limit)
		return at > 1 ? CLASS_SAME_TO_CODE : CLASS_LEAF_IN_CODE;
	if (at == stack->frames && at == theirs->count)
		return at > 1 ? CLASS_SAME : CLASS_ALONE;
	if (at > 1 && at == theirs->count && at < stack->frames &&
	    is_beyond(stack, theirs->sp[at - 1], theirs->missed) &&
	    libdw_has_row(stack, stack->frame[at - 1]))
		return CLASS_BEYOND;
	return explain(stack, theirs, again, at);
}

/* Returns whether the walk guessed between code in a file and code that the replay cannot read. */
static bool is_guess_beside_code(const struct stack *stack, const struct rewalk_frames *again,
				 u32 at)
{
	return at < stack->frames && at < again->count && stack->frame[at] & FRAME_GUESSED &&
	       !in_file(stack, FRAME_ADDRESS(again->frame[at]));
}

enum verdict compare_replay(const struct stack *stack, const struct rewalk_frames *again,
			    u32 *ret_at)
{
	u32 limit = comparable(stack), at = 0;
	enum verdict verdict;

	*ret_at = 0;
	if (is_outside(stack, &verdict))
		return verdict;
	while (at < again->count && at < stack->frames && again->frame[at] == stack->frame[at])
		at++;
	*ret_at = at;
	if (at == again->count && at == stack->frames && again->reason == stack->reason)
		return CLASS_SAME;
	if (at >= limit || is_guess_beside_code(stack, again, at))
		return at > 1 ? CLASS_SAME_TO_CODE : CLASS_LEAF_IN_CODE;
	if (at > 1 && at == again->count && at < stack->frames &&
	    again->reason == REASON_cut_read && is_beyond(stack, again->sp, again->missed))
		return CLASS_BEYOND;
	if (at == stack->frames && stack->reason == REASON_cut_not_a_call && again->count > at)
		return CLASS_UNREAD;
	if (at && at == stack->frames && again->count > at &&
	    is_mapped_late(stack, at, FRAME_ADDRESS(again->frame[at])))
		return CLASS_MAPPED;
	return CLASS_UNEXPLAINED;
}

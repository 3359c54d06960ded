/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Leaves a frame of code without a rule: by a leaf's return address at rsp, or by the frame
 * pointer. Pure C. The includer supplies the environment that bpf/walk/step.bpf.h names.
 *
 * A step is proven by one of these:
 *   - the instruction at the pc returns, or begins a function that sets a frame pointer up;
 *   - the code at the address gives the frame up and returns;
 *   - the call in front of the return address leads to the code that the walk leaves, and what the
 *     called function does first agrees with the way;
 *   - no other word of the frame can be the return address of that code.
 * Any other step is a guess: the frame that it leads to has FRAME_GUESSED. A stack with a guess is
 * never counted as complete.
 */
#ifndef KEYHOLE_BPF_WALK_FALLBACK_BPF_H
#define KEYHOLE_BPF_WALK_FALLBACK_BPF_H

#include "bpf/walk/address.bpf.h"
#include "bpf/walk/found.bpf.h"
#include "bpf/walk/memory.bpf.h"
#include "bpf/walk/stacked.bpf.h"

#define FALLBACK_WORDS	  128u /* of a frame: in a larger one, another return address may be */
#define FALLBACK_LOOKS	  32u  /* words of a frame that are looked up as addresses */
#define FALLBACK_CALLS	  8u   /* of them, words in known mappings: their code is read */
#define WINDOW_MASK	  (WALK_WINDOW_BYTES / 8 - 1)
#define FALLBACK_FUNCTION (1ull << 16) /* bytes of a function without rules, at most */
#define FALLBACK_CALLER	  (1ull << 12) /* bytes of such a function that calls through a register */

#define CODE_ENDBR64 0xfa1e0ff3u

/* ---- where a call leads ---- */

enum call_leads {
	CALL_NONE,	/* no known return address */
	CALL_ELSEWHERE, /* a direct call, and other code than the walk's */
	CALL_PUSHED,	/* no call, but code made at run time: HotSpot's interpreter pushes such */
	CALL_ANYWHERE,	/* through a register, memory or a stub that jumps on */
	CALL_UNREAD,	/* possibly CALL_ANYWHERE: the code cannot be read */
	CALL_HERE,	/* a direct call of the code that the walk leaves */
};

/* Returns whether code begins with a jump, or with a constant for one: stubs and PLT entries do. */
INLINE int code_is_stub(u64 code)
{
	if ((u32)code == CODE_ENDBR64)
		code >>= 32;
	if ((code & 0xff) == 0xf2) /* bnd */
		code >>= 8;
	u32 first = code & 0xff, second = code >> 8 & 0xff;

	return first == 0xe9 || first == 0xeb || first == 0x68 ||
	       (first == 0xff && (second & 0x38) == 0x20) ||
	       ((first & 0xfe) == 0x48 && (second & 0xf8) == 0xb8);
}

/*
 * Returns whether code begins with a push, or makes room in the stack. Behind that, rsp points to
 * the return address no longer. HotSpot's functions touch the stack far below before that:
 * mov %eax, -N(%rsp).
 */
INLINE int code_makes_frame(u64 code)
{
	if ((u32)code == CODE_ENDBR64)
		code >>= 32;
	u32 three = code & 0xffffff;

	return (code & 0xf8) == 0x50 || (code & 0xf8fe) == 0x5040 || three == 0xec8348 ||
	       three == 0xec8148 || three == 0x248489;
}

/* Returns whether code at the target belongs to the function that walk->address is in. */
INLINE int walk_same_function(struct walk *walk, u64 target)
{
	if (walk->address - target >= FALLBACK_FUNCTION)
		return 0;
	if (!walk_is_mapped(walk, target))
		return 0;
	/* another mapping is another object, or code of another maker */
	if (walk->address < walk->mapping_start || walk->address >= walk->mapping_end)
		return 0;
	if (!(walk->mapping_flags & MAPPING_HAS_TABLE))
		return 1;
	/* code with a rule is another function than code without one */
	return table_find_rule(target - walk->bias) != TABLE_FAILED &&
	       rule_kind(walk->rule) == RULE_NONE;
}

/*
 * Returns enum call_leads of the call in front of an address, and sets walk->target if that is
 * CALL_HERE.
 */
GLOBAL int walk_call(u64 address)
{
	struct walk *walk = walk_state();

	if (!walk || address < 8 || !walk_is_mapped(walk, address))
		return CALL_NONE;
	if (walk_has_copy(walk))
		return walk_copy_calls(address) ? CALL_ANYWHERE : CALL_NONE;
	/* walk_after_call() says when code cannot be read */
	if (walk_read_code(address - 8))
		return CALL_UNREAD;
	if (!walk_is_call(walk->code)) {
		if (walk->mapping_flags & MAPPING_HAS_TABLE)
			return CALL_NONE;
		return CALL_PUSHED;
	}
	if (!code_calls_directly(walk->code))
		return CALL_ANYWHERE;
	u64 target = address + (s64)(s32)(walk->code >> 32);

	if (walk_read_code(target) || code_is_stub(walk->code))
		return CALL_ANYWHERE;
	walk->target = target;
	return walk_same_function(walk, target) ? CALL_HERE : CALL_ELSEWHERE;
}

/*
 * Returns the same for an address to which the walk may go. Where no call was read, the kernel must
 * hold the code for executable.
 */
INLINE u32 walk_call_behind(u64 address)
{
	u32 call = walk_call(address);

	if (call != CALL_UNREAD && call != CALL_PUSHED)
		return call;
	if (!walk_executable(address))
		return CALL_NONE;
	return call == CALL_UNREAD ? CALL_ANYWHERE : call;
}

/* ---- what the leaf is about to do ---- */

/* Returns whether code begins with mov %rsp, %rbp, which has two encodings. */
INLINE int code_sets_frame(u64 code)
{
	return (code & 0xffffff) == 0xe58948 || (code & 0xffffff) == 0xec8b48;
}

/*
 * Returns the bytes of an instruction that reads a flag, or 0. Functions that were made at run time
 * read flags while they have no frame:
 *   V8 11, BailoutIfDeoptimized: mov off8(%r), %r; testb or testl $n, off8(%r)
 *   HotSpot 11: mov off8(%r15), %r; test %eax, (%r10)
 *   HotSpot 17 and later: cmp off32(%r15), %rsp
 */
INLINE u32 code_flag_bytes(u64 code)
{
	if ((code & 0xc0ff) == 0x408b)
		return 3;
	if ((code & 0xc0fffa) == 0x408b48 || (code & 0xc0ff) == 0x40f6)
		return 4;
	if ((code & 0xffffff) == 0xa73b49 || (code & 0xc0ff) == 0x40f7)
		return 7;
	return (code & 0xffffff) == 0x028541 ? 3 : 0;
}

/*
 * Returns whether the code at the pc reads flags, may jump away, and then returns or begins a
 * frame. Meanwhile the word at rsp is the return address.
 */
INLINE int walk_is_without_frame(struct walk *walk)
{
	u64 at = walk->address;

	for (u32 i = 0; i < 2; i++) {
		u32 bytes = code_flag_bytes(walk->code);

		if (!bytes)
			break;
		at += bytes;
		if (walk_read_code(at))
			return 0;
	}
	if ((walk->code & 0xf0ff) == 0x800f && walk_read_code(at + 6))
		return 0;
	return (walk->code & 0xff) == 0xc3 || (walk->code & 0xff) == 0xc2 ||
	       ((walk->code & 0xff) == 0x55 && code_sets_frame(walk->code >> 8));
}

/*
 * Returns whether the 8 bytes before a pc give a frame up: mov %rbp, %rsp; pop %rbp, or
 * add $n, %rsp; pop %rbp.
 */
INLINE int code_gave_frame_up(u64 before)
{
	u32 four = before >> 32;

	return four == 0x5de58b48 || four == 0x5dec8948 ||
	       ((before >> 56) == 0x5d && (before >> 24 & 0xffffff) == 0xc48348) ||
	       ((before >> 56) == 0x5d && (before & 0xffffff) == 0xc48148);
}

/*
 * Returns the bytes between rsp and the return address, or LEAF_UNKNOWN. The code tells: repz ret,
 * the move behind push %rbp, and the code that walk_is_without_frame() and code_gave_frame_up()
 * know.
 */
GLOBAL u64 walk_leaf_place(void)
{
	struct walk *walk = walk_state();

	if (!walk || walk_read_code(walk->address - 8))
		return LEAF_UNKNOWN;
	u64 before = walk->code;

	if (code_gave_frame_up(before))
		return 0;
	if (walk_read_code(walk->address))
		return LEAF_UNKNOWN;
	if ((walk->code & 0xffff) == 0xc3f3)
		return 0;
	if (code_sets_frame(walk->code) && before >> 56 == 0x55)
		return 8;
	if ((u32)walk->code == CODE_ENDBR64)
		walk->code >>= 32;
	return walk_is_without_frame(walk) ? 0 : LEAF_UNKNOWN;
}

/* ---- other return addresses ---- */

/* Returns whether the word number `number` above rsp may be the return address, too. */
GLOBAL int walk_may_return(u32 number)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	if (number >= walk->words)
		return 0;
	u64 sp = walk->reg[REG_RSP], into = walk->into;
	u64 index = ((sp - walk->window_start) >> 3) + number;
	u64 word = walk->window[index & WINDOW_MASK];

	/* a small number, or an address in the frame */
	if (word >= WALK_ADDRESS_END || !(word >> 16) || word - sp <= walk->reg[REG_RBP] - sp)
		return 0;
	/* HotSpot's calls leave a copy of the return address in the caller's frame */
	if (word == walk->address || (into && word - into >= FALLBACK_CALLER))
		return 0;
	if (++walk->looks > FALLBACK_LOOKS)
		return 1;
	if (!walk_is_mapped(walk, word))
		return 0;
	walk->reads++;
	if (++walk->calls > FALLBACK_CALLS)
		return 1;
	u32 call = walk_call(word);

	/* HotSpot's code without frame pointers begins with push %rbp */
	if (call == CALL_PUSHED && number &&
	    walk->window[(index - 1) & WINDOW_MASK] != walk->reg[REG_RBP])
		return 0;
	if (!into)
		return call >= walk->least;
	/* of two functions before the address, the nearer one has the address */
	return call == CALL_ANYWHERE || call == CALL_UNREAD ||
	       (call == CALL_HERE && walk->target > into);
}

/* Looks at walk->words words from rsp on. */
GLOBAL int walk_has_other_return(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	walk->looks = walk->calls = 0;
	NOT_UNROLLED
	for (u32 i = 0; i < FALLBACK_WORDS; i++) {
		if (i >= walk->words)
			break;
		if (walk_may_return(i))
			return 1;
	}
	return 0;
}

/* ---- leaving ---- */

/* Leaves by walk->word, which was read at an address of the stack. */
INLINE int walk_leave_word(struct walk *walk, u64 at, u64 guessed)
{
	walk->valid &= WALK_CALLEE_SAVED;
	walk->guessed = guessed;
	return walk_next(walk, at + 8, walk->word);
}

/*
 * Returns whether a word of the frame [rsp, bp) may be the return address as well. into: the
 * function that the call behind the frame pointer leads to, or 0. That function may have called
 * other code, which has the address. Then the return address points into the function.
 */
INLINE int walk_is_ambiguous(struct walk *walk, u64 bp, u64 into)
{
	u64 sp = walk->reg[REG_RSP], bytes = bp - sp;

	if (!bytes)
		return 0;
	if (sp & 7 || bytes > FALLBACK_WORDS * 8)
		return 1;
	if (sp < walk->window_start || bp - walk->window_start > walk->window_bytes) {
		walk->window_start = sp;
		walk->window_bytes = bytes;
		walk->reads++;
		if (walk_read_window(bytes, sp)) {
			walk->window_bytes = 0;
			return 1;
		}
	}
	walk->into = into;
	walk->least = CALL_PUSHED;
	/* what a compiler called may jump on to code by hand */
	if (walk_is_mapped(walk, walk->address) && walk->mapping_flags & MAPPING_HAS_TABLE)
		walk->least = CALL_ELSEWHERE;
	walk->words = (u32)((bp - sp) >> 3);
	return walk_has_other_return();
}

/* Returns whether the call in front of the word at rsp proves that the word is the way out. */
INLINE int walk_is_leaf_of(struct walk *walk, u32 leaf_call)
{
	if (leaf_call != CALL_HERE)
		return 0;
	/* walk_call() has read the function's first bytes */
	return walk->address == walk->target || !code_makes_frame(walk->code);
}

/* Reads the two words at a frame pointer into walk->pair. Returns 0 when both were read. */
INLINE int walk_read_pair(struct walk *walk, u64 bp)
{
	u64 word = walk->word;
	int failed = walk_read_word(bp);

	walk->pair[0] = walk->word;
	failed |= walk_read_word(bp + 8);
	walk->pair[1] = walk->word;
	walk->word = word;
	return failed;
}

#define CODE_POP_RBP_RET 0xc35du
#define CODE_ADD_RSP_RET 0xc300c48348ull /* add $n, %rsp; ret; n is a positive multiple of 8 */
#define CODE_ADD_RSP	 0xff87ffffffull

/*
 * Leaves a frame whose code is about to give the frame up and to return. The code behind the
 * call in CPython's trampolines for perf does so. Returns 0 to go on, 1 at the end of the walk, or
 * 2 where the code is other code.
 */
INLINE int walk_leave_last(struct walk *walk)
{
	if (walk->reg[REG_RSP] & 7 || walk_read_code(walk->address))
		return 2;
	u64 code = walk->code, sp = walk->reg[REG_RSP], at = sp + (code >> 24 & 0x78);

	if ((code & 0xffff) == CODE_POP_RBP_RET)
		at = sp + 8;
	else if ((code & CODE_ADD_RSP) != CODE_ADD_RSP_RET)
		return 2;
	if (walk_read_pair(walk, at - 8))
		return walk_end(walk, REASON_cut_read);
	if ((code & 0xffff) == CODE_POP_RBP_RET)
		walk->reg[REG_RBP] = walk->pair[0];
	walk->word = walk->pair[1];
	return walk_leave_word(walk, at, 0);
}

/*
 * Returns whether the code before an address has taken the return address off the stack. V8's
 * functions do that to drop their arguments: pop %r10, lea (%rsp,%rcx,8), %rsp. True also where the
 * code cannot be read.
 */
GLOBAL int walk_moves_return(void)
{
	struct walk *walk = walk_state();

	if (!walk || walk_read_code(walk->address - 8))
		return 1;
	return walk->code >> 48 == 0x5a41 || walk->code >> 32 == 0xcc248d48;
}

/*
 * Returns the flags of a guess that follows the frame pointer. Where code keeps frame pointers, the
 * guess is right unless the leaf has no frame. Then its return address is at rsp, or was moved.
 */
INLINE u64 walk_pointer_guess(struct walk *walk, u32 leaf_call)
{
	if (!walk->exact)
		return FRAME_GUESSED | FRAME_BY_POINTER;
	if (walk->reg[REG_RSP] & 7 || leaf_call != CALL_NONE || walk_moves_return())
		return FRAME_GUESSED;
	return FRAME_GUESSED | FRAME_BY_POINTER;
}

/*
 * Leaves by the frame pointer, or by walk->word, at rsp. leaf_call: where the call before that word
 * leads; leaf: the function that this call proves to be the walk's, or 0.
 */
INLINE int walk_leave_frame(struct walk *walk, u32 leaf_call, u64 leaf)
{
	u64 sp = walk->reg[REG_RSP], bp = walk->reg[REG_RBP], *pair = walk->pair, into = 0;
	u32 call = CALL_NONE, ends = 0;

	if (!(bp & 7) && bp - sp < WALK_REACH && !walk_read_pair(walk, bp)) {
		ends = !pair[0] && !pair[1];
		if (!pair[0] || pair[0] > bp)
			call = walk_call_behind(pair[1]);
	}
	if (call == CALL_HERE)
		into = walk->target;
	/* of two functions before the address, the nearer one has the address */
	if (leaf && leaf >= into)
		return walk_leave_word(walk, sp, 0);
	ends = ends && leaf_call == CALL_NONE;
	if (call == CALL_NONE && !ends) {
		int last = walk_leave_last(walk);

		if (last < 2)
			return last;
		if (leaf_call == CALL_NONE || leaf_call == CALL_PUSHED)
			return walk_leave_found();
		return walk_leave_word(walk, sp, FRAME_GUESSED);
	}
	u64 guessed = walk_is_ambiguous(walk, bp, into) ? FRAME_GUESSED : 0;

	if (call == CALL_NONE)
		return walk_end(walk, guessed ? REASON_cut_no_rule : REASON_end_frame_pointer);
	if (guessed && call == CALL_ELSEWHERE && leaf_call)
		return walk_leave_word(walk, sp, FRAME_GUESSED);
	if (guessed)
		guessed = walk_pointer_guess(walk, leaf_call);
	walk->reg[REG_RBP] = pair[0];
	walk->valid = 1u << REG_RBP | 1u << REG_RSP;
	walk->chained = 1;
	walk->guessed = guessed;
	return walk_next(walk, bp + 16, pair[1]);
}

/* Leaves a frame of code without a rule. */
GLOBAL int walk_fallback(void)
{
	struct walk *walk = walk_state();
	u64 place, leaf = 0;
	u32 call = CALL_NONE;

	if (!walk)
		return 1;
	u64 sp = walk->reg[REG_RSP];

	walk->fallbacks++;
	if (!runtime_leave_by_anchor(walk->address - !walk->exact, sp))
		return 0;
	if (walk->exact && !(sp & 7)) {
		place = walk_leaf_place();
		if (place == 8)
			sp += 8;
		if (!walk_read_word(sp)) {
			if (place != LEAF_UNKNOWN)
				return walk_leave_word(walk, sp, 0);
			call = walk_call_behind(walk->word);
		}
		if (walk_is_leaf_of(walk, call))
			leaf = walk->target;
	}
	if (!walk->reg[REG_RBP] && walk->chained)
		return walk_end(walk, REASON_end_frame_pointer);
	return walk_leave_frame(walk, call, leaf);
}

#endif

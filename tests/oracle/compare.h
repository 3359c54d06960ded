/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classes of captured stacks: BPF's frames beside libdw's and the host-compiled walker's. The
 * code gives a class other than identical only for a reason that it can show. All others are
 * `unexplained`.
 */
#ifndef KEYHOLE_TESTS_ORACLE_COMPARE_H
#define KEYHOLE_TESTS_ORACLE_COMPARE_H

#include "bpf/abi.h"

struct stack;
struct libdw_frames;
struct rewalk_frames;

/*
 * X(name, side, text, test). AGREE: all comparable frames are identical, among them at least one
 * return address, because both were given the leaf. OUT: nothing can be compared. ORACLE: libdw is
 * shown to be wrong or to know less. OURS: we know less, and say so. `test` is the regression test
 * of the walk's behaviour there.
 */
/* clang-format off */
#define CLASSES(X) \
	X(SAME, AGREE, "identical", "") \
	X(SAME_TO_CODE, AGREE, "identical up to code that is in no file", "") \
	X(BEYOND, AGREE, "identical up to the end of what was captured", "") \
	X(LEAF_IN_CODE, OUT, "not compared: leaf in code that is in no file", "") \
	X(ALONE, OUT, "not compared: a leaf without a caller on both sides", "") \
	X(NOT_READY, OUT, "not compared: process not known to the worker yet", "") \
	X(GONE, OUT, "not compared: another program when its mappings were read", "") \
	X(SIGRETURN, ORACLE, "leaf in rt_sigreturn, behind the row of the trampoline", \
	  "test_signal__leaf_behind_the_trampoline, stacks/signals-alt-*") \
	X(GAP, ORACLE, "leaf in a gap below 16 bytes between rows", \
	  "test_unwind_table__small_gaps_are_padding") \
	X(GUESS, ORACLE, "leaf without a row: libdw's guess skips its caller", \
	  "test_fallback__leaf_return_address") \
	X(DERIVED, ORACLE, "in what the compiler adds to all, for which libdw has no row", \
	  "test_stub__init_and_fini_of_the_c_library") \
	X(UNSAID, ORACLE, "CFA by a register that the frame below does not mention", \
	  "stacks/lazy-*") \
	X(NO_CODE, ORACLE, "return address in no mapping: libdw makes it a frame", \
	  "test_step__return_addresses_outside") \
	X(NO_RULE, OURS, "cut: code without a row, rbp is no frame pointer; libdw guesses", \
	  "test_fallback__garbage_in_rbp") \
	X(MAPPED, OURS, "cut: library mapped a moment before the sample", \
	  "case_library_loaded_later") \
	X(UNREAD, OURS, "cut: text not in the page tables, areas not to be asked", \
	  "test_step__text_that_cannot_be_read") \
	X(LANDING, OURS, "cut: leaf in the unwinder's jump to a landing pad, behind no call", \
	  "test_step__what_is_no_call_is_refused") \
	X(UNEXPLAINED, OURS, "unexplained", "")
/* clang-format on */

enum verdict {
#define X(name, side, text, test) CLASS_##name,
	CLASSES(X)
#undef X
	CLASS_COUNT
};

enum side {
	SIDE_AGREE,
	SIDE_OUT,
	SIDE_ORACLE,
	SIDE_OURS
};

/* *ret_at: the first frame that differs. */
enum verdict compare(const struct stack *stack, const struct libdw_frames *theirs,
		     const struct rewalk_frames *again, u32 *ret_at);

/* Classifies the replay. All classes but AGREE, OUT, UNREAD and MAPPED are failures. */
enum verdict compare_replay(const struct stack *stack, const struct rewalk_frames *again,
			    u32 *ret_at);

#endif

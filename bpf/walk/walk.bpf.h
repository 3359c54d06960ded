/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The walk over one user stack. Pure C: compiled into the BPF program and, unchanged, into host
 * tests. Whoever includes bpf/walk/step.bpf.h supplies the environment declared there.
 *
 * The tables are written by a process that may have been taken over, so nothing read from them is
 * trusted: indices are masked, loops bounded, the stack pointer only rises (but at a signal frame),
 * memory is read within WALK_REACH of it, in aligned words, and a return address is emitted only if
 * it is a user address behind a call instruction.
 */
#ifndef KEYHOLE_BPF_WALK_WALK_BPF_H
#define KEYHOLE_BPF_WALK_WALK_BPF_H

#include "bpf/abi.h"

/* DWARF numbers (System V x86-64 psABI, figure 3.36) */
enum walk_register {
	REG_RAX,
	REG_RDX,
	REG_RCX,
	REG_RBX,
	REG_RSI,
	REG_RDI,
	REG_RBP,
	REG_RSP,
	REG_R8,
	REG_R9,
	REG_R10,
	REG_R11,
	REG_R12,
	REG_R13,
	REG_R14,
	REG_R15
};

#define WALK_CALLEE_SAVED                                                                \
	(1u << REG_RBX | 1u << REG_RBP | 1u << REG_RSP | 1u << REG_R12 | 1u << REG_R13 | \
	 1u << REG_R14 | 1u << REG_R15)
#define WALK_ALL_REGISTERS 0xffffu

#define WALK_WINDOW_BYTES 2048u
#define WALK_SLOTS_BYTES  128u	       /* the save slots of a rule lie in [CFA - 128, CFA) */
#define WALK_REACH	  (8ull << 20) /* bytes above the stack pointer that a frame may span */
#define WALK_RED_ZONE	  128u /* below the stack pointer; hand-written code keeps its CFA there */
#define WALK_SWITCHES	  8u   /* signal frames, which may lower the stack pointer */
#define WALK_ADDRESS_END  (1ull << 47)

/*
 * Looks at the clock every so many frames with a cached rule and their words at hand, of 0.1 us; at
 * every other read of the stack, of which a frame with a cached rule may do three, of up to 1.5 us
 * where lines and page tables are cold; and after each frame that was looked up in tables or found
 * by frame pointer, of up to 5 us.
 */
#define WALK_CLOCK_FRAMES 16u
#define WALK_READ_FRAMES  7u
#define WALK_MISS_FRAMES  (WALK_CLOCK_FRAMES - 1)

/*
 * No work between two looks takes so long: a hypervisor, or firmware, had the CPU meanwhile. So
 * many times in a walk that is not held against it, at low rates.
 */
#define WALK_STALL_NS 60000ull
#define WALK_STALLS   4u

/* A CPU may extend one walk in so much time, and so many at once if it did not for long. */
#define WALK_EXTEND_EVERY_NS 50000000ull
#define WALK_EXTENSIONS	     40u

/* What the address of a frame is: all but WALK_RETURN are not behind a call. */
enum walk_exact {
	WALK_RETURN,
	WALK_PC,       /* the CPU's */
	WALK_PC_SAVED, /* from a signal's context, which is memory like any other */
};

/* State of one walk; lives in a per-CPU value. */
struct walk {
	u64 hide; /* values pass through here when the verifier must forget their range */

	u64 address;	  /* of the frame to do next */
	u64 reg[16];	  /* DWARF numbers */
	u32 valid;	  /* registers whose value is known */
	u32 exact;	  /* enum walk_exact */
	u32 in_sigreturn; /* address is behind the rt_sigreturn that the leaf is in */
	u32 chained;	  /* the last frame was found by frame pointer */
	u32 switches;
	u32 forgiving; /* so many stalls more */
	u32 frames;
	u32 reason;	 /* why it ended; WALK_GOES_ON before */
	u64 deadline;	 /* CLOCK_MONOTONIC */
	u64 looked;	 /* the clock, when it was looked at last */
	u64 look_at;	 /* the clock again, at this much walk_work() */
	u64 extension;	 /* ns by which the deadline may be moved, or 0 */
	u64 extended_at; /* CLOCK_MONOTONIC, less what is left; kept from walk to walk */

	/* the process */
	u32 block; /* global word number of its mapping block */
	u32 mappings;
	u32 incomplete; /* as PROCESS_SLOT_INCOMPLETE says */
	u64 seed;	/* of its cache keys */
	u64 multiplier;

	/* the mapping the last look-up hit */
	u64 mapping_start, mapping_end, bias;
	u32 first_page, pages, directory, dictionary, mapping_flags;

	u64 code_start, code_end; /* an executable area, as the kernel said */
	u32 area_levels;	  /* of trees of areas gone through; kernel_for.bpf.h */
	u32 called;		  /* the address looked up last is behind a call */

	/* result of the last look-up */
	u64 rule;

	u64 trail_hits, text_hits, misses, fallbacks, reads;

	/* the stack bytes at hand: [window_start, window_start + window_bytes) */
	u64 window_start, window_bytes;
	u64 window[WALK_WINDOW_BYTES / 8];
};

#define WALK_GOES_ON 255u

/* In frames with a cached rule and their words at hand. */
static inline u64 walk_work(const struct walk *walk)
{
	return walk->frames + WALK_READ_FRAMES * walk->reads +
	       WALK_MISS_FRAMES * (walk->misses + walk->fallbacks);
}

static inline void walk_init(struct walk *walk)
{
	walk->valid = WALK_ALL_REGISTERS;
	walk->exact = WALK_PC;
	walk->in_sigreturn = 0;
	walk->chained = 0;
	walk->switches = 0;
	walk->forgiving = 0;
	walk->frames = 0;
	walk->reason = WALK_GOES_ON;
	walk->mapping_start = 1;
	walk->mapping_end = 0;
	walk->code_start = walk->code_end = 0;
	walk->area_levels = 0;
	walk->window_start = 0;
	walk->window_bytes = 0;
	walk->look_at = WALK_CLOCK_FRAMES;
	walk->trail_hits = walk->text_hits = walk->misses = walk->fallbacks = walk->reads = 0;
}

#endif

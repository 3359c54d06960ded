/* SPDX-License-Identifier: Apache-2.0 */
/* The capture of each sample by a test build, for tests/oracle/test_stacks.c. */
#ifndef KEYHOLE_TESTS_ORACLE_CAPTURE_H
#define KEYHOLE_TESTS_ORACLE_CAPTURE_H

#include "bpf/abi.h"

#define CAPTURE_SLOTS	  512u
#define CAPTURE_PAGE	  4096u
#define CAPTURE_BELOW	  256u /* bytes below the stack pointer: more than the red zone */
#define CAPTURE_NEAR	  17u  /* pages: 64 KB above the stack pointer, wherever in a page it is */
#define CAPTURE_FAR	  4u   /* pages up to where the walk ended, if that is elsewhere */
#define CAPTURE_REGISTERS 17u  /* DWARF numbers; the last one is the pc */
#define CAPTURE_MAP	  "captures"

/* Whole when begun == ended != 0 before and after it was copied. */
struct capture {
	u64 begun, ended; /* the number of the sample, from 1 */
	u64 time;
	u32 pid, tid;
	u32 reason, frames;
	u32 in_sigreturn;
	u32 near_read, far_read; /* a bit for each page that could be read */
	u32 pad;
	u64 near_start, far_start;
	u64 reg[CAPTURE_REGISTERS];
	u64 frame[RECORD_FRAMES_MAX]; /* the user part of the record */
	u8 near_page[CAPTURE_NEAR][CAPTURE_PAGE];
	u8 far_page[CAPTURE_FAR][CAPTURE_PAGE];
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Captured stacks unwound by elfutils' libdwfl. */
#ifndef KEYHOLE_TESTS_ORACLE_LIBDW_WALK_H
#define KEYHOLE_TESTS_ORACLE_LIBDW_WALK_H

#include <stdbool.h>

#include "bpf/abi.h"

struct stack;

struct libdw_frames {
	u32 count;
	bool cut;			  /* at `count` by LIBDW_FRAMES_MAX */
	u64 frame[RECORD_FRAMES_MAX + 1]; /* as in a record */
	u64 sp[RECORD_FRAMES_MAX + 1];	  /* 0: unknown */
	u64 missed; /* the last word asked for while leaving the last frame that is in no capture */
};

/* Returns 0, or -1 when libdw cannot be set up for the process. */
int libdw_walk(const struct stack *stack, struct libdw_frames *ret_frames);
/* Returns whether libdw has a row for the pc of a frame. */
bool libdw_has_row(const struct stack *stack, u64 frame);

#endif

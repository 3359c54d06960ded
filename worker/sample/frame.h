/* SPDX-License-Identifier: Apache-2.0 */
/* A user frame of a record: bpf/abi.h. */
#ifndef KEYHOLE_WORKER_SAMPLE_FRAME_H
#define KEYHOLE_WORKER_SAMPLE_FRAME_H

#include <stdint.h>

#include "bpf/abi.h"

/*
 * Returns a byte of the instruction that a frame is at. A return address may be the first one of
 * another function, so that the byte before it counts.
 */
static inline uint64_t frame_pc(u64 frame)
{
	const uint64_t address = FRAME_ADDRESS(frame);

	if (frame & FRAME_EXACT)
		return address;
	return address - 1;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observer of a test build (make OBSERVER=): a sampler that leaks. Behind each record it leaves the
 * kernel address that the sample hit, and words of the user's stack.
 */
#ifndef KEYHOLE_TESTS_CANARY_LEAK_BPF_H
#define KEYHOLE_TESTS_CANARY_LEAK_BPF_H

#include "bpf/env.bpf.h"
#include "bpf/maps.bpf.h"

#define LEAK_AT	   (RECORD_FRAMES_MAX - 32) /* place of the first word among the frames */
#define LEAK_WORDS 16u

#define observe_sample(scratch, record, reason)

INLINE void observe_walk(void *ctx, struct scratch *scratch)
{
	struct record *record = record_of(scratch);

	if (!record)
		return;
	u64 *to = (u64 *)(record + 1) + LEAK_AT;

	if (scratch->sample.record.kernel_frames)
		to[0] = scratch->sample.kernel[0];
	walk_read(to + 1, LEAK_WORDS * 8, scratch->walk.reg[REG_RSP]);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocator of words in the segments that BPF reads (bpf/abi.h). What was published is reused only
 * SEGMENTS_GRACE after it was given back: a walk that still reads it is long over by then.
 */
#ifndef KEYHOLE_WORKER_PROCESS_SEGMENTS_H
#define KEYHOLE_WORKER_PROCESS_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct segments;
struct target;

#define SEGMENTS_ALIGN	 16u		     /* words */
#define SEGMENTS_RESERVE (SEGMENT_WORDS / 4) /* words */
#define SEGMENTS_GRACE	 2000000000ull	     /* ns */

/* Asks the target for more, up to max in all. NULL: no memory. */
struct segments *segments_new(struct target *target, uint32_t max);
void segments_free(struct segments *segments); /* unmaps them; NULL is fine */

/* The next segment, mapped; takes it. 0, -ENOMEM or -ENOSPC. */
int segments_attach(struct segments *segments, struct segment *memory);

/*
 * 0 with a global word number, a multiple of SEGMENTS_ALIGN; -EAGAIN: a segment was asked for, try
 * again when segments_generation() has changed; -ENOSPC: the ceiling is reached; -E2BIG; -ENOMEM.
 */
int segments_alloc(struct segments *segments, uint32_t words, uint32_t *ret_word);
/*
 * The same for tables: at the ceiling they leave SEGMENTS_RESERVE to blocks, without which BPF
 * would not even be told that tables found no room.
 */
int segments_alloc_spare(struct segments *segments, uint32_t words, uint32_t *ret_word);
/* With the same number of words as in segments_alloc(). */
void segments_release(struct segments *segments, uint32_t word, uint32_t words, uint64_t now);
void segments_discard(struct segments *segments, uint32_t word,
		      uint32_t words); /* never published */
u32 *segments_at(const struct segments *segments, uint32_t word);

/* Takes back what has waited long enough and keeps a spare segment attached. */
void segments_turn(struct segments *segments, uint64_t now);

bool segments_full(const struct segments *segments);	       /* there will be no more of them */
uint64_t segments_generation(const struct segments *segments); /* counts whenever room appears */

#endif

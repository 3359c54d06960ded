/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocator of words in the segments that BPF reads (bpf/abi.h). Published words are reused only
 * SEGMENTS_GRACE after their release: a walk that still reads them is long over by then.
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

/* Makes an allocator that asks the target for up to max segments. NULL: no memory. */
struct segments *segments_new(struct target *target, uint32_t max);
void segments_free(struct segments *segments); /* unmaps them; NULL is fine */

/* Adds the next segment, mapped, and takes it. Returns 0, -ENOMEM or -ENOSPC. */
int segments_attach(struct segments *segments, struct segment *memory);

/*
 * Allocates words. 0 with a global word number, a multiple of SEGMENTS_ALIGN. -EAGAIN: try again
 * when segments_generation() has changed. -ENOSPC: the ceiling is reached. Also -E2BIG, -ENOMEM.
 */
int segments_alloc(struct segments *segments, uint32_t words, uint32_t *ret_word);
/*
 * Allocates as segments_alloc(), for tables. At the ceiling tables leave SEGMENTS_RESERVE to
 * blocks, which also tell BPF that tables found no room.
 */
int segments_alloc_spare(struct segments *segments, uint32_t words, uint32_t *ret_word);
/*
 * segments_release() and segments_discard() take the number of words that segments_alloc() was
 * asked for.
 */
void segments_release(struct segments *segments, uint32_t word, uint32_t words, uint64_t now);
void segments_discard(struct segments *segments, uint32_t word,
		      uint32_t words); /* never published */
u32 *segments_at(const struct segments *segments, uint32_t word);

/* Takes words back whose grace has passed, and keeps a spare segment attached. */
void segments_turn(struct segments *segments, uint64_t now);

bool segments_full(const struct segments *segments);	       /* the ceiling is reached */
uint64_t segments_generation(const struct segments *segments); /* counts whenever room appears */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of one CPU's ring of sample records (bpf/abi.h). */
#ifndef KEYHOLE_WORKER_SAMPLE_RING_H
#define KEYHOLE_WORKER_SAMPLE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

struct ring {
	const unsigned char *base;
	uint64_t bytes; /* a power of two, at least 2 * RECORD_BYTES_MAX */
	u64 *tail;	/* where BPF reads how far we are */
	uint64_t position;
	uint64_t discarded; /* records that were not well-formed */
};

/* Memory is borrowed; begins at what *tail says. */
void ring_init(struct ring *ring, const void *base, uint64_t bytes, u64 *tail);

/*
 * The next record: a copy of its head, checked, and its frames in place, which are valid until the
 * next ring_publish(). False when there is none. Malformed ones are passed over.
 */
bool ring_next(struct ring *ring, struct record *ret_head, const u64 **ret_frames);
/* Tells BPF what was read, so that it is overwritten. */
void ring_publish(struct ring *ring);

#endif

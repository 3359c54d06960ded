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
	u64 *tail;	/* BPF reads the reader's position there */
	uint64_t position;
	uint64_t discarded; /* records that were not well-formed */
};

/* Memory is borrowed; the reader begins at *tail. */
void ring_init(struct ring *ring, const void *base, uint64_t bytes, u64 *tail);

/*
 * Takes the next record: a checked copy of its head, and its frames in place, valid until the next
 * ring_publish(). False: there is none. Passes over malformed records.
 */
bool ring_next(struct ring *ring, struct record *ret_head, const u64 **ret_frames);
/* Tells BPF how far the reader is, so that BPF overwrites read records. */
void ring_publish(struct ring *ring);

#endif

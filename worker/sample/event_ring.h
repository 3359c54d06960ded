/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consumer of a BPF ring buffer through its mapping (Linux, kernel/bpf/ringbuf.c): a page with the
 * consumer's position, a page with the producer's, then the data, mapped twice in a row.
 */
#ifndef KEYHOLE_WORKER_SAMPLE_EVENT_RING_H
#define KEYHOLE_WORKER_SAMPLE_EVENT_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

struct event_ring {
	uint64_t *consumer;
	const uint64_t *producer;
	const unsigned char *data;
	uint64_t bytes; /* a power of two */
	uint64_t discarded;
	uint64_t end; /* of what the calls of event_ring_next() until the next false return */
	bool reading;
	char name[sizeof(u64[EVENT_NAME_WORDS]) + 1]; /* of the last event, "" if it brought none */
};

/* Memory is borrowed: consumer is one page, producer one page and 2 * bytes of data. */
void event_ring_init(struct event_ring *ring, void *consumer, const void *producer, uint64_t page,
		     uint64_t bytes);
/* To its end: what came before was another reader's. */
void event_ring_skip(void *consumer, const void *producer);
/* The next event; false when there is none, or none but those that came after the first call.
 * Others than struct event and struct event_name are passed over. */
bool event_ring_next(struct event_ring *ring, struct event *ret_event);
/* Where the kernel is, and whether all before such a place was read: an event that some CPU has
 * not finished yet holds up those behind it. */
uint64_t event_ring_head(const struct event_ring *ring);
bool event_ring_passed(const struct event_ring *ring, uint64_t head);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consumer of a BPF ring buffer through its mapping (Linux, kernel/bpf/ringbuf.c). The first page
 * has the consumer's position, the second the producer's. The data follow, mapped twice in a row.
 */
#ifndef KEYHOLE_WORKER_SAMPLE_EVENT_RING_H
#define KEYHOLE_WORKER_SAMPLE_EVENT_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "worker/sample/cgroup_path.h"

struct event_ring {
	uint64_t *consumer;
	const uint64_t *producer;
	const unsigned char *data;
	uint64_t bytes; /* a power of two */
	uint64_t discarded;
	uint64_t end; /* of the events that event_ring_next() returns before the next false */
	bool reading;
	/* of the last event; "": none */
	char name[sizeof(u64[EVENT_NAME_WORDS]) + 1];
	char path[CGROUP_PATH_BYTES];
	bool has_code; /* the last event is EVENT_CODE, and whole */
	bool has_wait; /* the last event is EVENT_WAIT, and whole */
	struct event_wait wait;
	struct event_code code;
};

/* Memory is borrowed: consumer is one page, producer one page and 2 * bytes of data. */
void event_ring_init(struct event_ring *ring, void *consumer, const void *producer, uint64_t page,
		     uint64_t bytes);
/* Skips the events of an earlier reader. */
void event_ring_skip(void *consumer, const void *producer);
/* Takes the next event. False: there is none, or it came after the first call of this series.
 * Passes over records of a size that no event has. */
bool event_ring_next(struct event_ring *ring, struct event *ret_event);
/* Returns the kernel's position; the second tells whether all events before a position were read.
 * An event that a CPU has not finished yet holds up the events behind it. */
uint64_t event_ring_head(const struct event_ring *ring);
bool event_ring_passed(const struct event_ring *ring, uint64_t head);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges the events of the BPF programs with the side-band of all CPUs by time, and gives them to
 * the tracker in that order.
 */
#ifndef KEYHOLE_WORKER_STREAM_H
#define KEYHOLE_WORKER_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_ring;
struct late_names;
struct sideband;
struct stream;
struct tracker;

struct stream *stream_new(void);	 /* NULL: no memory */
void stream_free(struct stream *stream); /* NULL is fine */

/* To the end of all: events until now were another reader's, and without them nothing says which
 * programs in the side-band are denied. */
void stream_skip(void *consumer, const void *producer, struct sideband *sidebands, size_t count);
/* Reads everything that is there: first events, so that what the side-band says before is read.
 * Names are kept at once. */
void stream_read(struct stream *stream, struct event_ring *events, struct late_names *names,
		 struct sideband *sidebands, size_t count);
/* Applies what happened up to a time, and nothing while the stream is behind. True: something is
 * kept for the next call. */
bool stream_apply(struct stream *stream, struct tracker *tracker, uint64_t until);
/* The last reading found an event unfinished: those behind it may be older than what is kept. */
bool stream_behind(const struct stream *stream);
/* The process that the first EVENT_SEEN told of, 0: none yet. */
uint32_t stream_first_seen(const struct stream *stream);

#endif

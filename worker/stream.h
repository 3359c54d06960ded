/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges the events of the BPF programs with the side-band of all CPUs by time, and gives them to
 * the tracker in that order. An item for which there is no memory is dropped, and counts as a
 * record that the kernel lost: tracker_lost().
 */
#ifndef KEYHOLE_WORKER_STREAM_H
#define KEYHOLE_WORKER_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroups;
struct event_ring;
struct event_wait;
struct late_names;
struct sideband;
struct stream;
struct tracker;

struct stream_names { /* all borrowed: what events tell of no process */
	struct late_names *late_names;
	struct cgroups *cgroups;
	/* Takes EVENT_WAIT; or NULL. */
	void (*take_wait)(void *context, const struct event_wait *wait);
	void *context;
};

struct stream *stream_new(void);	 /* NULL: no memory */
void stream_free(struct stream *stream); /* NULL is fine */

/*
 * Skips everything so far. An earlier worker read those events, and without them nothing says which
 * programs in the side-band are denied. consumer: the page of the event ring with the worker's
 * position, which is written here. producer: the read-only page with the kernel's position.
 */
void stream_skip(void *consumer, const void *producer, struct sideband *sidebands, size_t count);
/*
 * Reads everything: events first, so that the side-band before each event is read as well. Keeps
 * names at once. Returns whether there was an item for stream_apply().
 */
bool stream_read(struct stream *stream, struct event_ring *events, const struct stream_names *names,
		 struct sideband *sidebands, size_t count);
/* Returns how many events were read so far; the side-band's records do not count. */
uint64_t stream_events(const struct stream *stream);
/* Applies items up to a time. True: some items stay for the next call. While the stream is behind,
 * applies none and returns true, even without an item. */
bool stream_apply(struct stream *stream, struct tracker *tracker, uint64_t until);
/* Forgets the items, where nobody follows processes. */
void stream_drop(struct stream *stream);
/* True: the last reading found an unfinished event. Events behind it may be older than items. */
bool stream_behind(const struct stream *stream);
/* Returns the pid of the first EVENT_SEEN, 0: none yet. */
uint32_t stream_first_seen(const struct stream *stream);

#endif

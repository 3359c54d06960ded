/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bpf/abi.h"
#include "worker/kernel/late_names.h"
#include "worker/process/tracker.h"
#include "worker/sample/cgroups.h"
#include "worker/sample/event_ring.h"
#include "worker/sample/sideband.h"

struct item {
	uint64_t order;
	bool is_event;
	struct event_code *code; /* owned; NULL: the item is not EVENT_CODE */
	union {
		struct event event;
		struct sideband_record record; /* text: owned, a copy */
	};
};

/*
 * A CPU finishes an event within some hundred ns, unless the CPU was interrupted or taken away.
 * So many tries last some microseconds: enough for the first case, and little time in the second.
 */
#define EVENT_TRIES 1000

struct stream {
	struct item *items;
	size_t count, capacity;
	uint64_t order, dropped; /* dropped: no memory */
	uint64_t events;	 /* read so far */
	uint32_t first_seen;
	bool behind;
};

_Static_assert(sizeof(((struct event_name *)0)->name) == LATE_NAME_BYTES, "names are kept whole");

struct stream *stream_new(void)
{
	return calloc(1, sizeof(struct stream));
}

/* Freed memory keeps its bytes, and these may be of a program that is denied. */
static void forget(struct item *item)
{
	char *text;

	if (item->code)
		explicit_bzero(item->code, sizeof(*item->code));
	free(item->code);
	if (item->is_event || !item->record.text)
		return;
	text = (char *)(uintptr_t)item->record.text;
	explicit_bzero(text, strlen(text));
	free(text);
}

void stream_free(struct stream *stream)
{
	if (!stream)
		return;
	for (size_t i = 0; i < stream->count; i++)
		forget(&stream->items[i]);
	free(stream->items);
	free(stream);
}

static struct item *add(struct stream *stream)
{
	struct item *item;

	if (ARRAY_RESERVE(stream->items, stream->capacity, stream->count + 1) < 0) {
		stream->dropped++;
		return NULL;
	}
	item = &stream->items[stream->count++];
	*item = (struct item){.order = stream->order++};
	return item;
}

static void add_event(struct stream *stream, const struct event *event)
{
	struct item *item = add(stream);

	if (event->kind == EVENT_SEEN && stream->first_seen == 0)
		stream->first_seen = event->pid;
	if (!item)
		return;
	item->is_event = true;
	item->event = *event;
	stream->events++;
}

/* Counts a code that has no memory as any other item. */
static void add_code(struct stream *stream, const struct event_code *code)
{
	struct event_code *copy = malloc(sizeof(*copy));
	struct item *item = NULL;

	if (copy)
		item = add(stream);
	else
		stream->dropped++;
	if (!item) {
		free(copy);
		return;
	}
	*copy = *code;
	item->is_event = true;
	item->event = code->event;
	item->code = copy;
	stream->events++;
}

static void add_record(struct stream *stream, const struct sideband_record *record)
{
	char *text = record->text ? strdup(record->text) : NULL;
	struct item *item = NULL;

	if (!record->text || text)
		item = add(stream);
	else
		stream->dropped++;
	if (!item) {
		free(text);
		return;
	}
	item->record = *record;
	item->record.text = text;
}

void stream_skip(void *consumer, const void *producer, struct sideband *sidebands, size_t count)
{
	event_ring_skip(consumer, producer);
	for (size_t i = 0; i < count; i++)
		sideband_skip(&sidebands[i]);
}

static void keep_wait(const struct event_ring *events, const struct stream_names *names)
{
	if (names->take_wait && events->has_wait)
		names->take_wait(names->context, &events->wait);
}

/* Keeps what an event tells of no process, and other events until stream_apply(). */
static void keep(struct stream *stream, const struct event_ring *events, const struct event *event,
		 const struct stream_names *names)
{
	if (event->kind == EVENT_NAME) /* generation: the id of the name */
		late_names_add(names->late_names, event->generation, events->name);
	else if (event->kind == EVENT_CGROUP)
		cgroups_add(names->cgroups, event->cgroup, events->path);
	else if (event->kind == EVENT_WAIT)
		keep_wait(events, names);
	else if (events->has_code)
		add_code(stream, &events->code);
	else
		add_event(stream, event);
}

static void read_events(struct stream *stream, struct event_ring *events,
			const struct stream_names *names)
{
	const uint64_t head = event_ring_head(events);
	struct event event;

	for (int tries = 0; tries < EVENT_TRIES; tries++) {
		while (event_ring_next(events, &event))
			keep(stream, events, &event, names);
		stream->behind = !event_ring_passed(events, head);
		if (!stream->behind)
			return;
	}
}

bool stream_read(struct stream *stream, struct event_ring *events, const struct stream_names *names,
		 struct sideband *sidebands, size_t count)
{
	const uint64_t before = stream->order;
	struct sideband_record record;

	read_events(stream, events, names);
	for (size_t i = 0; i < count; i++)
		while (sideband_next(&sidebands[i], &record))
			add_record(stream, &record);
	return stream->order != before;
}

/*
 * Orders items of one moment: EVENT_DENIED comes before the records of the denied program, and the
 * side-band before other events. An EXEC comes when the segments of the new program are mapped, so
 * the side-band has those mappings first.
 */
static int rank(const struct item *item)
{
	if (!item->is_event)
		return 1;
	if (item->event.kind == EVENT_DENIED)
		return 0;
	return 2;
}

static uint64_t time_of(const struct item *item)
{
	if (item->is_event)
		return item->event.time;
	return item->record.time;
}

static int compare(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

static int by_time(const void *a, const void *b)
{
	const struct item *left = a, *right = b;

	if (time_of(left) != time_of(right))
		return compare(time_of(left), time_of(right));
	if (rank(left) != rank(right))
		return rank(left) - rank(right);
	return compare(left->order, right->order);
}

static void apply_mmap(struct tracker *tracker, const struct item *item)
{
	const struct sideband_record *record = &item->record;
	const struct tracker_mapping mapping = {
		.start = record->start,
		.end = record->end,
		.offset = record->offset,
		.device = record->device,
		.inode = record->inode,
		.inode_generation = record->inode_generation,
		.path = record->text,
	};

	tracker_mmap(tracker, record->time, record->pid, &mapping);
}

static void apply_comm(struct tracker *tracker, const struct item *item)
{
	const struct sideband_record *record = &item->record;

	tracker_comm(tracker, record->time, record->pid, record->tid, record->text,
		     record->kind == SIDEBAND_EXEC);
}

static void apply_lost(struct tracker *tracker, const struct item *item)
{
	tracker_lost(tracker, item->record.lost);
}

static void apply(struct tracker *tracker, const struct item *item)
{
	static void (*const appliers[])(struct tracker *, const struct item *) = {
		[SIDEBAND_MMAP] = apply_mmap,
		[SIDEBAND_COMM] = apply_comm,
		[SIDEBAND_EXEC] = apply_comm,
		[SIDEBAND_LOST] = apply_lost,
	};

	if (item->code)
		tracker_code(tracker, item->code);
	else if (item->is_event)
		tracker_event(tracker, &item->event);
	else
		appliers[item->record.kind](tracker, item);
}

bool stream_apply(struct stream *stream, struct tracker *tracker, uint64_t until)
{
	size_t done = 0;

	if (stream->behind)
		return true;
	/* dropped records count as if the kernel had lost them */
	if (stream->dropped > 0)
		tracker_lost(tracker, stream->dropped);
	stream->dropped = 0;
	if (stream->count == 0)
		return false;
	qsort(stream->items, stream->count, sizeof(*stream->items), by_time);
	for (; done < stream->count && time_of(&stream->items[done]) <= until; done++) {
		apply(tracker, &stream->items[done]);
		forget(&stream->items[done]);
	}
	stream->count -= done;
	memmove(stream->items, stream->items + done, stream->count * sizeof(*stream->items));
	return stream->count > 0;
}

void stream_drop(struct stream *stream)
{
	for (size_t i = 0; i < stream->count; i++)
		forget(&stream->items[i]);
	stream->count = 0;
	stream->dropped = 0;
}

uint64_t stream_events(const struct stream *stream)
{
	return stream->events;
}

bool stream_behind(const struct stream *stream)
{
	return stream->behind;
}

uint32_t stream_first_seen(const struct stream *stream)
{
	return stream->first_seen;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/delivery/delivery.h"

#include <errno.h>
#include <stdlib.h>

#include "exporter/delivery/backoff.h"
#include "exporter/otlp/split.h"

struct window {
	struct window *next;
	uint8_t *bytes;
	size_t size;
	uint64_t added, events;	       /* events: that were not delivered or dropped yet */
	uint32_t samples, first, step; /* the part is first <= sample < first + step */
	unsigned int halves;
	struct split *split; /* NULL: the window goes whole, so far */
};

struct delivery {
	struct delivery_limits limits;
	struct backoff backoff;
	struct window *head, *tail;
	struct buffer buffer; /* of a part that is not the whole window */
	struct delivery_part part;
	bool prepared;	/* the part is that of the head */
	bool under_way; /* the part was given out */
	uint64_t not_before;
	struct delivery_counts counts;
};

struct delivery *delivery_new(const struct delivery_limits *limits, uint64_t seed)
{
	struct delivery *delivery = calloc(1, sizeof(*delivery));

	if (!delivery)
		return NULL;
	delivery->limits = *limits;
	backoff_init(&delivery->backoff, seed);
	return delivery;
}

static void window_free(struct window *window)
{
	split_free(window->split);
	free(window->bytes);
	free(window);
}

void delivery_free(struct delivery *delivery)
{
	if (!delivery)
		return;
	while (delivery->head) {
		struct window *next = delivery->head->next;

		window_free(delivery->head);
		delivery->head = next;
	}
	buffer_release(&delivery->buffer);
	free(delivery);
}

struct delivery_counts *delivery_counts(struct delivery *delivery)
{
	return &delivery->counts;
}

bool delivery_is_empty(const struct delivery *delivery)
{
	return !delivery->head;
}

uint64_t delivery_age(const struct delivery *delivery, uint64_t now)
{
	if (!delivery->head)
		return 0;
	return now - delivery->head->added;
}

uint64_t delivery_request_bytes(const struct delivery *delivery)
{
	return delivery->limits.request_bytes;
}

/* ---- queue ---- */

/* Removes a window behind `before` (NULL: the head), and counts what it still had. */
static void drop(struct delivery *delivery, struct window *before, uint64_t *count)
{
	struct window *window = delivery->head;

	if (before) {
		window = before->next;
		before->next = window->next;
	} else {
		delivery->head = window->next;
		delivery->prepared = false;
	}
	if (delivery->tail == window)
		delivery->tail = before;
	*count += window->events;
	delivery->counts.queue_bytes -= window->size;
	delivery->counts.queue_windows--;
	window_free(window);
}

static void drop_head(struct delivery *delivery, uint64_t *count)
{
	drop(delivery, NULL, count);
}

/* The head stays while its part is under way: a server may have it already. */
static struct window *first_droppable(const struct delivery *delivery)
{
	if (!delivery->under_way || !delivery->head)
		return delivery->head;
	return delivery->head->next;
}

static void drop_oldest(struct delivery *delivery, uint64_t *count)
{
	struct window *before = NULL;

	if (delivery->under_way)
		before = delivery->head;
	drop(delivery, before, count);
}

void delivery_expire(struct delivery *delivery, uint64_t now)
{
	const struct window *oldest;

	while ((oldest = first_droppable(delivery)) &&
	       now - oldest->added >= delivery->limits.queue_ns)
		drop_oldest(delivery, &delivery->counts.events_expired);
}

/* Drops old windows until there is room. Returns false where that is not enough. */
static bool make_room(struct delivery *delivery, size_t size)
{
	while (delivery->counts.queue_bytes + size > delivery->limits.queue_bytes) {
		if (!first_droppable(delivery))
			return false;
		drop_oldest(delivery, &delivery->counts.events_overflowed);
	}
	return true;
}

static int look_through(struct window *window)
{
	struct split *split;
	int r = split_new(window->bytes, window->size, &split);

	if (r < 0)
		return r;
	window->samples = window->step = split_samples(split);
	window->events = split_events(split, 0, window->samples);
	split_free(split);
	return 0;
}

static void append(struct delivery *delivery, struct window *window)
{
	if (delivery->tail)
		delivery->tail->next = window;
	else
		delivery->head = window;
	delivery->tail = window;
	delivery->counts.queue_bytes += window->size;
	delivery->counts.queue_windows++;
}

/* Returns 1 for a window that nobody needs to be sent. */
static int admit(struct delivery *delivery, struct window *window)
{
	struct delivery_counts *counts = &delivery->counts;
	int r = look_through(window);

	if (r < 0) {
		counts->windows_malformed += r != -ENOMEM;
		return r == -ENOMEM ? r : -EBADMSG;
	}
	if (window->samples == 0) {
		counts->windows_empty++;
		return 1;
	}
	counts->events_taken += window->events;
	if (make_room(delivery, window->size))
		return 0;
	counts->events_overflowed += window->events;
	return -ENOSPC;
}

int delivery_add(struct delivery *delivery, uint8_t *bytes, size_t size, uint64_t now)
{
	struct window *window = calloc(1, sizeof(*window));
	int r;

	delivery->counts.windows++;
	if (!window) {
		free(bytes);
		return -ENOMEM;
	}
	window->bytes = bytes;
	window->size = size;
	window->added = now;
	delivery_expire(delivery, now);
	r = admit(delivery, window);
	if (r == 0) {
		append(delivery, window);
		return 0;
	}
	window_free(window);
	if (r > 0)
		return 0;
	return r;
}

/* ---- parts ---- */

static bool is_whole(const struct delivery *delivery, const struct window *window)
{
	return window->first == 0 && window->step == window->samples &&
	       window->size <= delivery->limits.request_bytes;
}

static uint32_t end_of_part(const struct window *window)
{
	uint32_t left = window->samples - window->first;

	if (window->step > left)
		return window->samples;
	return window->first + window->step;
}

static int write_part(struct delivery *delivery, struct window *window)
{
	buffer_reset(&delivery->buffer, delivery->limits.request_bytes);
	return split_write(window->split, window->first, end_of_part(window), &delivery->buffer);
}

/* Moves past the part, whose samples came to the end that `count` counts. */
static void finish_part(struct delivery *delivery, uint64_t *count)
{
	struct window *window = delivery->head;
	uint64_t events = window->events, unused = 0;
	uint32_t end = end_of_part(window);

	if (window->split)
		events = split_events(window->split, window->first, end);
	*count += events;
	window->events -= events;
	window->first = end;
	delivery->prepared = false;
	if (end == window->samples)
		drop_head(delivery, &unused);
}

/* Halves the step until the part fits. A sample that does not fit alone is left out. */
static int fit_part(struct delivery *delivery, struct window *window)
{
	int r;

	while ((r = write_part(delivery, window)) == -EFBIG && window->step > 1)
		window->step = (window->step + 1) / 2;
	return r;
}

static int prepare_split(struct delivery *delivery, struct window *window)
{
	int r = 0;

	if (!window->split)
		r = split_new(window->bytes, window->size, &window->split);
	if (r < 0)
		return r;
	r = fit_part(delivery, window);
	if (r < 0)
		return r;
	delivery->part.bytes = delivery->buffer.bytes;
	delivery->part.size = delivery->buffer.size;
	return 0;
}

static int prepare_head(struct delivery *delivery)
{
	struct window *window = delivery->head;

	delivery->part.serial++;
	if (!is_whole(delivery, window))
		return prepare_split(delivery, window);
	delivery->part.bytes = window->bytes;
	delivery->part.size = window->size;
	return 0;
}

/* Prepares a part of the oldest window of which a part can be made. Returns false without any. */
static bool prepare(struct delivery *delivery)
{
	struct delivery_counts *counts = &delivery->counts;
	int r;

	while (delivery->head && !delivery->prepared) {
		r = prepare_head(delivery);
		if (r == 0) {
			delivery->prepared = true;
		} else if (r == -EFBIG) {
			finish_part(delivery, &counts->events_too_large);
		} else if (r == -ENOMEM) {
			drop_head(delivery, &counts->events_unkept);
		} else {
			counts->windows_malformed++;
			drop_head(delivery, &counts->events_refused);
		}
	}
	return delivery->head;
}

uint64_t delivery_due(const struct delivery *delivery)
{
	uint64_t expiry;

	if (!delivery->head || delivery->under_way)
		return DELIVERY_NEVER;
	expiry = delivery->head->added + delivery->limits.queue_ns;
	if (expiry < delivery->not_before)
		return expiry;
	return delivery->not_before;
}

bool delivery_next(struct delivery *delivery, uint64_t now, struct delivery_part *ret_part)
{
	if (delivery->under_way)
		return false;
	delivery_expire(delivery, now);
	if (now < delivery->not_before || !prepare(delivery))
		return false;
	delivery->under_way = true;
	delivery->counts.requests++;
	*ret_part = delivery->part;
	return true;
}

/* ---- judging ---- */

static void judge_delivered(struct delivery *delivery, const struct verdict *verdict)
{
	delivery->counts.requests_delivered++;
	delivery->counts.requests_partial += verdict->partial;
	delivery->counts.profiles_rejected += verdict->rejected;
	backoff_reset(&delivery->backoff);
	finish_part(delivery, &delivery->counts.events_delivered);
}

static void judge_refused(struct delivery *delivery)
{
	delivery->counts.requests_refused++;
	backoff_reset(&delivery->backoff);
	finish_part(delivery, &delivery->counts.events_refused);
}

/* Later windows begin with parts that the server took. */
static void learn_limit(struct delivery *delivery, size_t refused)
{
	uint64_t limit = refused / 2;

	if (limit < DELIVERY_PART_MIN)
		limit = DELIVERY_PART_MIN;
	if (limit < delivery->limits.request_bytes)
		delivery->limits.request_bytes = limit;
}

static void judge_too_large(struct delivery *delivery)
{
	struct window *window = delivery->head;
	uint32_t samples = end_of_part(window) - window->first;

	delivery->counts.requests_too_large++;
	backoff_reset(&delivery->backoff);
	learn_limit(delivery, delivery->part.size);
	if (samples == 1) {
		finish_part(delivery, &delivery->counts.events_too_large);
		return;
	}
	if (++window->halves > DELIVERY_HALVES_MAX) {
		drop_head(delivery, &delivery->counts.events_refused);
		return;
	}
	window->step = (samples + 1) / 2;
	delivery->prepared = false;
}

void delivery_judge(struct delivery *delivery, const struct verdict *verdict, uint64_t now)
{
	bool under_way = delivery->under_way;

	delivery->under_way = false;
	delivery->counts.answers_bad += verdict->bad_answer;
	delivery->not_before = 0;
	if (verdict->outcome == OUTCOME_RETRY) {
		delivery->counts.requests_failed += under_way;
		delivery->not_before = now + backoff_next(&delivery->backoff, verdict->wait_ns);
	} else if (!under_way) {
		return;
	} else if (verdict->outcome == OUTCOME_DELIVERED) {
		judge_delivered(delivery, verdict);
	} else if (verdict->outcome == OUTCOME_TOO_LARGE) {
		judge_too_large(delivery);
	} else {
		judge_refused(delivery);
	}
}

void delivery_hurry(struct delivery *delivery)
{
	delivery->not_before = 0;
	backoff_reset(&delivery->backoff);
}

void delivery_abandon(struct delivery *delivery)
{
	delivery->under_way = false;
	while (delivery->head)
		drop_head(delivery, &delivery->counts.events_expired);
}

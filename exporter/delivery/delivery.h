/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of windows, and which request goes next. A window is an encoded
 * ExportProfilesServiceRequest; one that is larger than a server takes goes in parts
 * (exporter/otlp/split.h). Windows leave in the order in which they came. Where the queue is full
 * the oldest one is dropped, and one that waits too long is. Nothing here waits, logs or knows the
 * time: `now` is the caller's clock, in ns.
 */
#ifndef KEYHOLE_EXPORTER_DELIVERY_DELIVERY_H
#define KEYHOLE_EXPORTER_DELIVERY_DELIVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporter/delivery/counts.h"
#include "exporter/delivery/verdict.h"

#define DELIVERY_NEVER	    UINT64_MAX
#define DELIVERY_PART_MIN   65536u /* a server that refuses even this refuses more than size */
#define DELIVERY_HALVES_MAX 8u	   /* of one window: 256 parts */

struct delivery_limits {
	uint64_t queue_bytes;	/* of windows as they came */
	uint64_t queue_ns;	/* from coming to being dropped */
	uint64_t request_bytes; /* of a request before compression */
};

/* A request. The bytes hold until delivery_judge() or delivery_add(). */
struct delivery_part {
	const uint8_t *bytes;
	size_t size;
	uint64_t serial; /* parts of equal serials are equal */
};

struct delivery;

/* seed: for jitter. NULL: no memory. */
struct delivery *delivery_new(const struct delivery_limits *limits, uint64_t seed);
void delivery_free(struct delivery *delivery); /* NULL is fine */

/*
 * Takes over the window's bytes, from malloc(), and queues them. Windows without samples are left
 * out. Returns 0 or why the window was dropped: -EBADMSG (no such request), -ENOSPC or -ENOMEM.
 * -ENOSPC stands for a window larger than the queue, or than its rest beside a request under way.
 */
int delivery_add(struct delivery *delivery, uint8_t *bytes, size_t size, uint64_t now);

/* Drops the windows that have waited too long. */
void delivery_expire(struct delivery *delivery, uint64_t now);
/* Returns when delivery_next() may have a request. DELIVERY_NEVER: not before a window comes. */
uint64_t delivery_due(const struct delivery *delivery);
/* Returns whether there is a request to send. Then delivery_judge() is to follow. */
bool delivery_next(struct delivery *delivery, uint64_t now, struct delivery_part *ret_part);
/*
 * Takes what became of the request that delivery_next() gave. Without one, it takes that there is
 * no connection: OUTCOME_RETRY is the one outcome then.
 */
void delivery_judge(struct delivery *delivery, const struct verdict *verdict, uint64_t now);
/* Ends all waits: what is in the queue is due at once. */
void delivery_hurry(struct delivery *delivery);
/* Drops all windows, as if they had waited too long. */
void delivery_abandon(struct delivery *delivery);

/* Returns the ns that the oldest window waits by now; 0: none waits. */
uint64_t delivery_age(const struct delivery *delivery, uint64_t now);
bool delivery_is_empty(const struct delivery *delivery);
/* Returns the most bytes of a request, which shrinks when a server calls one too large. */
uint64_t delivery_request_bytes(const struct delivery *delivery);
/* Returns the counts, to which the caller adds those of connections and of bytes. */
struct delivery_counts *delivery_counts(struct delivery *delivery);

#endif

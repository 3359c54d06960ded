/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows on disk, for a server that does not have them yet. keyhole-output has the files. Each
 * window gets a file when it comes, and loses the file when the server has the window. No end of
 * this process thus loses a window. When the queue is empty, windows that left it come back, the
 * oldest first. Nothing here waits.
 */
#ifndef KEYHOLE_EXPORTER_SPOOL_H
#define KEYHOLE_EXPORTER_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "exporter/delivery/delivery.h"
#include "exporter/reporter.h"

struct event_base;
struct spool;

struct spool_owner {
	struct delivery *delivery; /* where windows go */
	struct reporter *reporter;
	uint64_t window_max; /* bytes */
	/* Tells, from the loop, that a window came back, or that one of spool_window() was read. */
	void (*changed)(void *owner);
	void *owner;
};

/* Takes over the channel to keyhole-output. Returns 0 or -ENOMEM. */
int spool_new(struct event_base *base, int channel, const struct spool_owner *owner,
	      struct spool **ret_spool);
void spool_free(struct spool *spool); /* NULL is fine */

/*
 * Queues a window, whose bytes from malloc() are taken over, and has it written to disk from the
 * file fd. Returns delivery_add()'s; 1: fd must not change as long as spool_is_reading(). A window
 * that gets no file is in the queue all the same.
 */
int spool_window(struct spool *spool, int fd, uint8_t *bytes, size_t size, uint64_t now);
bool spool_is_reading(const struct spool *spool);

/* Returns when spool_step() has something to do; DELIVERY_NEVER: not before a change. */
uint64_t spool_due(const struct spool *spool);
/* Asks for the oldest window where the queue is empty. */
void spool_step(struct spool *spool, uint64_t now);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the exporter the windows of a stream, and the finished profile. */
#ifndef KEYHOLE_WORKER_DELIVERY_H
#define KEYHOLE_WORKER_DELIVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/channel.h"
#include "ipc/messages.h"

struct files;
struct session;

struct delivery {
	struct channel exporter; /* the owner sets its phase */
	struct session *session; /* borrowed, as the next */
	const struct files *files;
	bool is_made; /* the profile, of profile_bytes */
	uint64_t profile_bytes;
	unsigned int drafts;   /* made so far */
	bool is_writing;       /* a window was sent, and is not written yet */
	unsigned int tries;    /* to name the window that is due */
	uint64_t every, due;   /* ns; due: when the next window ends, but for its delay */
	uint64_t spread;       /* ns: a window is late by a random time below that; 0: never */
	uint64_t sent, joined; /* windows; joined: to the next one */
};

void delivery_init(struct delivery *delivery, struct session *session, const struct files *files);

/* Connects to an exporter: the first, or its successor. Returns 0 or a negative errno. */
int delivery_connect(struct delivery *delivery, int fd);

/*
 * Ends a window every so many ns. With `spread`, below every / 2, each is late by a random part of
 * that time, so that many machines do not send at once. Returns the ns until the next call is due.
 */
uint64_t delivery_start_windows(struct delivery *delivery, uint64_t every, uint64_t spread);

/*
 * Makes and sends a window when it is due. A call makes only some of the names, because no turn of
 * the session must be late. Returns 0 with the ns until the next call is due, or a negative errno.
 */
int delivery_window(struct delivery *delivery, uint64_t *ret_wait);

/*
 * Sends the profile as far as it is, which the exporter writes when this process ends before
 * delivery_profile(). Returns 0 or a negative errno; -EPIPE: no exporter has the draft.
 */
int delivery_draft(struct delivery *delivery, const struct message_stop *stop);

/* Sends the finished profile. Returns 0 or a negative errno. */
int delivery_profile(struct delivery *delivery, const struct message_stop *stop);

#endif

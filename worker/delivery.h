/* SPDX-License-Identifier: Apache-2.0 */
/* What the exporter gets: the finished profile, and before it the windows of a stream. */
#ifndef KEYHOLE_WORKER_DELIVERY_H
#define KEYHOLE_WORKER_DELIVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/channel.h"
#include "ipc/messages.h"

struct session;

struct delivery {
	struct channel exporter; /* its phase is the owner's */
	struct session *session; /* borrowed */
	int profile;		 /* once it is made, or -1 */
	bool is_writing;	 /* a window was sent, and is not written yet */
	unsigned int tries;	 /* at the names of the window that is due */
	uint64_t every, due;	 /* ns; due: when the next window ends */
	uint64_t sent, joined; /* windows; joined: to the next, as the one before was not written */
};

void delivery_init(struct delivery *delivery, struct session *session);

/* To an exporter, which may be in place of one that has ended. 0 or a negative errno. */
int delivery_connect(struct delivery *delivery, int fd);

/* The first window ends after this many ns. Returns the time in ns to the call that follows. */
uint64_t delivery_start_windows(struct delivery *delivery, uint64_t every);

/*
 * When that time has passed: a window, or some of the names that it waits for, as no turn of the
 * session must be late. 0 and the time to the next call, or a negative errno.
 */
int delivery_window(struct delivery *delivery, uint64_t *ret_wait);

/* The finished profile. 0 or a negative errno. */
int delivery_profile(struct delivery *delivery, const struct message_stop *stop);

#endif

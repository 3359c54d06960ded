/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the socket at which the exporter shows numbers of an agent. */
#ifndef KEYHOLE_HELPER_OUTPUT_LISTENER_H
#define KEYHOLE_HELPER_OUTPUT_LISTENER_H

#include "ipc/destination.h"

/*
 * Reads struct listener from the start of the file. Returns 0, or -EBADMSG for what
 * keyhole-options cannot have made.
 */
int listener_read(int file, struct listener *ret_listener);

/*
 * Makes a listening, non-blocking socket. The path of a unix socket gets mode 0660; a socket there
 * that nobody listens at is replaced. Returns the descriptor or a negative errno, after one line in
 * the log.
 */
int listener_open(const struct listener *listener);

/* Removes the path of a unix socket. Does nothing for another listener. */
void listener_remove(const struct listener *listener);

#endif

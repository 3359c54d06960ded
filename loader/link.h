/* SPDX-License-Identifier: Apache-2.0 */
/* A socket of their own for a child and another process. */
#ifndef KEYHOLE_LOADER_LINK_H
#define KEYHOLE_LOADER_LINK_H

#include <stddef.h>

#include "ipc/channel.h"

/* The messages by which both get their ends. */
struct link {
	enum message_type to_child; /* without a payload */
	enum message_type to_other;
	const void *payload; /* of to_other; borrowed */
	size_t size;
};

/*
 * Makes a pair of sockets and sends its ends: first one to the other process, then one to the
 * child. Returns 0 or a negative errno.
 */
int link_make(const struct link *link, struct channel *child, struct channel *other);

#endif

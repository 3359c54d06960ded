/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the messages of `keyhole record` on standard error: progress, and the last lines, in which
 * top stands for record.
 */
#ifndef KEYHOLE_VIEW_TOP_MESSAGES_H
#define KEYHOLE_VIEW_TOP_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#define MESSAGES_KEPT  6
#define MESSAGES_BYTES 240

struct messages {
	char lines[MESSAGES_KEPT][MESSAGES_BYTES]; /* clean; a ring */
	size_t next, count;
	char begun[MESSAGES_BYTES]; /* the unfinished line, not clean */
	size_t length;
	uint64_t lost; /* lost samples, of the last progress */
};

void messages_feed(struct messages *messages, const char *bytes, size_t size);
/* Returns a line, of which the oldest has index 0, or NULL for an index that is too large. */
const char *messages_line(const struct messages *messages, size_t index);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What `keyhole record` says on standard error: progress, and the last lines, as top's own. */
#ifndef KEYHOLE_VIEW_TOP_MESSAGES_H
#define KEYHOLE_VIEW_TOP_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#define MESSAGES_KEPT  6
#define MESSAGES_BYTES 240

struct messages {
	char lines[MESSAGES_KEPT][MESSAGES_BYTES]; /* clean; a ring */
	size_t next, count;
	char begun[MESSAGES_BYTES]; /* as it came */
	size_t length;
	uint64_t lost; /* as it was said last */
};

void messages_feed(struct messages *messages, const char *bytes, size_t size);
/* From the oldest on; NULL: there are not so many. */
const char *messages_line(const struct messages *messages, size_t index);

#endif

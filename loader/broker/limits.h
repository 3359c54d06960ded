/* SPDX-License-Identifier: Apache-2.0 */
/* How much one worker may ask for; the next one begins anew. */
#ifndef KEYHOLE_LOADER_BROKER_LIMITS_H
#define KEYHOLE_LOADER_BROKER_LIMITS_H

#include <stdint.h>

#include "ipc/messages.h"

/*
 * At first, and a second. An honest worker that starts among 2,000 processes asks for 2,000 lists
 * and some 10,000 objects; later for 200 lists a second, and at most 20 times for each object.
 */
#define LIMIT_REQUESTS	    65536
#define LIMIT_REQUESTS_RATE 5000
#define LIMIT_OPEN_AGAIN    60000000000ull /* ns */
#define LIMIT_OBJECTS	    32768	   /* opened ones that are remembered */
#define LIMIT_PROBES	    64		   /* places where one of them may be */

struct limits {
	uint64_t tokens, filled; /* when */
	uint64_t refused, repeated;
	uint64_t key;
	struct {
		uint64_t hash, opened; /* opened: when, or 0 */
	} objects[LIMIT_OBJECTS];
};

int limits_init(struct limits *limits, uint64_t now); /* 0 or a negative errno */
/* 0, or -EAGAIN: counted, ask again later. */
int limits_request(struct limits *limits, uint64_t now);
/* 0, or -EALREADY: it was opened, or so many others were, within the last minute. */
int limits_open(struct limits *limits, const struct message_object_reply *object, uint64_t now);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of what one worker may ask for. The first broker of the next worker begins anew; another
 * broker of the same worker begins with few tokens.
 */
#ifndef KEYHOLE_LOADER_BROKER_LIMITS_H
#define KEYHOLE_LOADER_BROKER_LIMITS_H

#include <stdint.h>

#include "ipc/messages.h"

/*
 * An honest worker that starts among 2,000 processes asks for 2,000 lists and some 10,000 objects.
 * Later the worker asks for 200 lists a second, and for each object at most 20 times.
 */
#define LIMIT_REQUESTS	    65536	   /* at once */
#define LIMIT_REQUESTS_RATE 5000	   /* per second, afterwards */
#define LIMIT_OPEN_AGAIN    60000000000ull /* ns */
#define LIMIT_OBJECTS	    32768	   /* opened objects that are remembered */
#define LIMIT_PROBES	    64		   /* places where one object may be */

struct limits {
	uint64_t tokens;	    /* requests that are allowed now */
	uint64_t filled;	    /* ns, monotonic: when tokens were added last */
	uint64_t refused, repeated; /* answers: -EAGAIN, -EALREADY */
	uint64_t key;		    /* random */
	struct {
		uint64_t hash;
		uint64_t opened; /* ns, monotonic; 0: free */
	} objects[LIMIT_OBJECTS];
};

/* tokens: at most LIMIT_REQUESTS count. Times are ns, monotonic. Returns 0 or a negative errno. */
int limits_init(struct limits *limits, uint32_t tokens, uint64_t now);
/* Takes a token for a request. Returns 0, or -EAGAIN: ask again later. */
int limits_request(struct limits *limits, uint64_t now);
/*
 * Returns 0 when the object may be opened, or -EALREADY when the object, or too many other objects,
 * were opened within the last minute.
 */
int limits_may_open(struct limits *limits, const struct message_object_reply *object, uint64_t now);
/* Notes that the object was opened. */
void limits_opened(struct limits *limits, const struct message_object_reply *object, uint64_t now);

#endif

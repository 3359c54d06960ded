/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the broker does for the worker. Of targets it reads lists of mounts alone, and it allocates
 * nothing; each answer is a descriptor or a negative errno.
 */
#ifndef KEYHOLE_LOADER_BROKER_ANSWERS_H
#define KEYHOLE_LOADER_BROKER_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/messages.h"

struct limits;

struct segments {
	int map;       /* the outer ARRAY_OF_MAPS */
	uint32_t next; /* index of the next segment, or of the last one possible */
	bool anchored; /* next is known: otherwise the worker's first request tells */
};

/* first: the worker's next one; 0: it lost a broker, and asks for one of those that there are (of
 * a worker before it, it may be) or for the one behind them. */
int segments_init(struct segments *ret_segments, int map, uint32_t first);

/*
 * Each returns a new descriptor, or a negative errno. processes: of struct generation by id. A
 * process that is not in it, or has no such thread, gives -ENOENT, one that is denied -EACCES.
 */
int answer_maps(int processes, const struct message_maps *request);
int answer_segment(struct segments *segments, const struct message_segment *request);

/*
 * 0 with the identity and, where it was asked for and not given within the last minute, a new
 * descriptor; or a negative errno. -EACCES: no regular file, one that the process opened for
 * writing, or on a file system that is not allowed.
 */
int answer_object(int processes, struct limits *limits, const struct message_object *request,
		  struct message_object_reply *ret_reply, int *ret_fd);

#endif

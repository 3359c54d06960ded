/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the broker does for the worker. It decides by numbers alone, reads no byte of a target and
 * allocates nothing; each answer is a descriptor or a negative errno.
 */
#ifndef KEYHOLE_LOADER_BROKER_ANSWERS_H
#define KEYHOLE_LOADER_BROKER_ANSWERS_H

#include <stdint.h>

#include "ipc/messages.h"

struct limits;

struct segments {
	int map;       /* the outer ARRAY_OF_MAPS */
	uint32_t next; /* index of the next segment */
};

/* Where the map is empty: a restarted broker goes on after the last segment. */
int segments_init(struct segments *ret_segments, int map);

/* Each returns a new descriptor, or a negative errno. processes: of struct generation by id; who
 * is not in it gets -ENOENT, who is denied -EACCES. */
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

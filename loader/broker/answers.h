/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker's answers to the worker's requests. The broker reads nothing of targets but their
 * lists of mounts, and allocates no memory.
 */
#ifndef KEYHOLE_LOADER_BROKER_ANSWERS_H
#define KEYHOLE_LOADER_BROKER_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/messages.h"

struct limits;

struct segments {
	int map;       /* the outer ARRAY_OF_MAPS */
	uint32_t next; /* index of the next segment; unless anchored, the highest possible one */
	bool anchored; /* next is known; otherwise the worker's first request sets next */
};

/*
 * Prepares the answers to SEGMENT. first: index of the worker's next segment. 0 means that the
 * worker has lost a broker. The worker's next segment is then a segment of the map, perhaps of an
 * earlier worker, or the first new one. Returns 0 or a negative errno.
 */
int segments_init(struct segments *ret_segments, int map, uint32_t first);

/*
 * Each returns a new descriptor, or a negative errno. -ENOENT: BPF does not follow the process, or
 * the process has no such thread. -EACCES: the process is denied. processes: map of struct
 * generation by pid.
 */
int answer_maps(int processes, const struct message_maps *request);
int answer_segment(struct segments *segments, const struct message_segment *request);

/*
 * Returns 0 with the identity, or a negative errno as above. Also sets *ret_fd to a new descriptor,
 * if the request wants one and the last minute gave none. -EACCES also means: no regular file, a
 * file that the process opened for writing, or a file system that is not allowed.
 */
int answer_object(int processes, struct limits *limits, const struct message_object *request,
		  struct message_object_reply *ret_reply, int *ret_fd);

#endif

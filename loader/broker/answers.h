/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker's answers to the worker's requests. The broker reads nothing of targets but what the
 * kernel tells in /proc, and allocates no memory.
 */
#ifndef KEYHOLE_LOADER_BROKER_ANSWERS_H
#define KEYHOLE_LOADER_BROKER_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/messages.h"

struct limits;
struct mounts;

struct answerer {
	int processes; /* map of struct generation by pid */
	struct limits *limits;
	struct mounts *mounts;
	bool no_code_files; /* by a rule of the policy */
};

struct segments {
	int map;       /* the outer ARRAY_OF_MAPS */
	uint32_t next; /* index of the first segment that the worker may get */
};

/*
 * Prepares the answers to SEGMENT. first: index of the first segment that the worker may get.
 * Returns 0 or a negative errno.
 */
int segments_init(struct segments *ret_segments, int map, uint32_t first);

/*
 * Each returns a new descriptor, or a negative errno. -ENOENT: BPF does not follow the process, or
 * the process has no such thread. -EACCES: the process is denied. processes: map of struct
 * generation by pid.
 */
int answer_maps(int processes, const struct message_maps *request);
/* Gives the kernel's list of the control groups of the process, one for each hierarchy. */
int answer_cgroups(int processes, const struct message_maps *request);
/* Gives no segment twice. -EEXIST: the worker, or an earlier broker of its, has this one. */
int answer_segment(struct segments *segments, const struct message_segment *request);

/*
 * Returns 0 with the identity, or a negative errno as above. Also sets *ret_fd to a new descriptor,
 * if the request wants one and the last minute gave none. -EACCES also means: no regular file, a
 * file that the process opened for writing, or a file system that is not allowed. -EBUSY: the lists
 * of mounts of the process's user took much time, ask again a second later.
 */
int answer_object(const struct answerer *answerer, const struct message_object *request,
		  struct message_object_reply *ret_reply, int *ret_fd);

/*
 * Does the same for the file in which a process names the code that it makes at run time. -EPERM: a
 * rule of the policy forbids it. -ESRCH: the process is of another generation, or starts a program.
 * Others: as above, and as of code_file_open().
 */
int answer_code_file(const struct answerer *answerer, const struct message_code_file *request,
		     struct message_object_reply *ret_reply, int *ret_fd);

#endif

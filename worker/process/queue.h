/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that wait for the parse thread. Owners have equal shares by the size of files: the next
 * task is the smallest of the owner that has had least. A new owner starts level with the others.
 */
#ifndef KEYHOLE_WORKER_PROCESS_QUEUE_H
#define KEYHOLE_WORKER_PROCESS_QUEUE_H

#include <stdint.h>

#include "worker/process/parser.h"

/* Bytes that a file counts for, at least (opening costs something too) and at most. */
#define QUEUE_COST_MIN (64u << 10)
#define QUEUE_COST_MAX (256u << 20)

struct task {
	struct parser_job job;
	struct parser_result result;
	struct task *next; /* the holder's */
};

struct queue {
	struct queue_owner *owners; /* with waiting tasks, in order of arrival */
	uint64_t used;		    /* of the owner that had the last turn */
};

int queue_put(struct queue *queue, struct task *task); /* takes the task; -ENOMEM: not */
struct task *queue_take(struct queue *queue);	       /* the task is the caller's; NULL: none */

#endif

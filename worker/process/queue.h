/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that wait to be parsed. Owners have equal shares by the size of files: the next one is of
 * who has had least, the smallest of it first. Who comes new starts where the others are.
 */
#ifndef KEYHOLE_WORKER_PROCESS_QUEUE_H
#define KEYHOLE_WORKER_PROCESS_QUEUE_H

#include <stdint.h>

#include "worker/process/parser.h"

/* What a file counts for, at least, as opening it costs something too, and at most. */
#define QUEUE_COST_MIN (64u << 10)
#define QUEUE_COST_MAX (256u << 20)

struct task {
	struct parser_job job;
	struct parser_result result;
	struct task *next; /* for whoever has it */
};

struct queue {
	struct queue_owner *owners; /* with something waiting; who came first is first */
	uint64_t used;		    /* of whose turn it was last */
};

int queue_put(struct queue *queue, struct task *task); /* takes it; 0, or -ENOMEM: it does not */
struct task *queue_take(struct queue *queue);	       /* the caller's; NULL: none */

#endif

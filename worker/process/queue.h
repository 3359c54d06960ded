/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that wait for the parse thread. Payers (budget.h) have equal shares by the size of files,
 * and so have the owners of a payer. The next task belongs to the payer that has had least, and to
 * the owner there that has had least. It is the owner's smallest. Newcomers start level with the
 * others. Tasks rest while none of their payers may begin; places to rest are bounded (parser.h).
 */
#ifndef KEYHOLE_WORKER_PROCESS_QUEUE_H
#define KEYHOLE_WORKER_PROCESS_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/process/parser.h"

/* Bytes that a file counts for, at least (opening costs something too) and at most. */
#define QUEUE_COST_MIN (64u << 10)
#define QUEUE_COST_MAX (256u << 20)
#define TASK_PAYERS    4u /* of processes that asked for the file */

struct budget;

struct task {
	struct parser_job job;
	struct parser_result result;
	uint64_t others[TASK_PAYERS - 1]; /* payers after that of the job */
	unsigned int other_count;
	bool rested;	   /* had to wait for its payers */
	uint64_t due;	   /* while it rests: the time at which a payer may be able to begin */
	struct task *next; /* the holder's */
};

struct queue {
	const struct budget *budget;
	struct queue_payer *payers; /* with waiting tasks that do not rest */
	uint64_t used;		    /* of the payer that had the last turn */
	struct task *resting;	    /* that due first, first */
	size_t resting_count;
	struct task *refused; /* were to rest, and found no place or no memory */
	uint64_t rested;      /* tasks that rested */
};

/* Takes the task and returns 0. Otherwise -ENOMEM, or -EDQUOT: the task has no place to rest. */
int queue_put(struct queue *queue, struct task *task, uint64_t now);
/*
 * Takes the next task that may begin, of a file of at most `most` bytes. The task is the caller's.
 * *ret_payer is to be charged. NULL: none may begin. Tasks may come to `refused`.
 */
struct task *queue_take(struct queue *queue, size_t most, uint64_t now, uint64_t *ret_payer);
/* Takes a refused task. NULL: there is none. */
struct task *queue_take_refused(struct queue *queue);
/* Takes a task, whether it may begin or not. NULL: there is none. */
struct task *queue_remove(struct queue *queue);
/* Returns from which time on a task may begin; UINT64_MAX: none waits. */
uint64_t queue_due(const struct queue *queue, uint64_t now);
/* Returns how many tasks of a payer wait, those that rest among them. */
size_t queue_waiting(const struct queue *queue, uint64_t payer);
/*
 * Lets another payer pay for a waiting task as well. A task has TASK_PAYERS payers at most. One
 * that may begin then takes the place of one that may not.
 */
void queue_add_payer(struct queue *queue, uint64_t number, uint64_t payer, uint64_t now);

#endif

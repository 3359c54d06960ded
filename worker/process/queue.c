/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/queue.h"

#include <errno.h>
#include <stdlib.h>

struct queue_owner {
	struct queue_owner *next;
	uint32_t number;
	uint64_t used;	      /* cost of its tasks so far, on top of a start value */
	struct task *waiting; /* smallest first, never none */
};

/* Returns the owner with a number, a new one if need be. NULL: no memory. */
static struct queue_owner *get_owner(struct queue *queue, uint32_t number)
{
	struct queue_owner **at = &queue->owners;

	while (*at && (*at)->number != number)
		at = &(*at)->next;
	if (!*at && (*at = calloc(1, sizeof(**at))))
		**at = (struct queue_owner){.number = number, .used = queue->used};
	return *at;
}

int queue_put(struct queue *queue, struct task *task)
{
	struct queue_owner *owner = get_owner(queue, task->job.owner);
	struct task **place;

	if (!owner)
		return -ENOMEM;
	for (place = &owner->waiting; *place && (*place)->job.size <= task->job.size;)
		place = &(*place)->next;
	task->next = *place;
	*place = task;
	return 0;
}

static uint64_t cost(const struct task *task)
{
	if (task->job.size < QUEUE_COST_MIN)
		return QUEUE_COST_MIN;
	if (task->job.size > QUEUE_COST_MAX)
		return QUEUE_COST_MAX;
	return task->job.size;
}

struct task *queue_take(struct queue *queue)
{
	struct queue_owner **least = &queue->owners, *owner;
	struct task *task;

	for (struct queue_owner **at = least; *at; at = &(*at)->next)
		if ((*at)->used < (*least)->used)
			least = at;
	owner = *least;
	if (!owner)
		return NULL;
	task = owner->waiting;
	owner->waiting = task->next;
	queue->used = owner->used;
	owner->used += cost(task);
	if (!owner->waiting) {
		*least = owner->next;
		free(owner);
	}
	return task;
}

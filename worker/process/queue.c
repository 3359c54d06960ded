/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/queue.h"

#include <errno.h>
#include <stdlib.h>

#include "worker/process/budget.h"

struct queue_owner {
	struct queue_owner *next;
	uint32_t number;
	uint64_t used;	      /* cost of its tasks so far, on top of a start value */
	struct task *waiting; /* smallest first, none only during queue_take() */
};

struct queue_payer {
	struct queue_payer *next;
	uint64_t number;
	uint64_t used;		    /* as of an owner */
	uint64_t level;		    /* used by the owner that had the last turn */
	struct queue_owner *owners; /* in order of arrival, none only during queue_take() */
	size_t waiting;		    /* tasks */
};

/* ---- putting ---- */

static struct queue_payer *find_payer(const struct queue *queue, uint64_t number)
{
	struct queue_payer *payer = queue->payers;

	while (payer && payer->number != number)
		payer = payer->next;
	return payer;
}

/* Returns a payer without owners if it is new. NULL: no memory. */
static struct queue_payer *get_payer(struct queue *queue, uint64_t number)
{
	struct queue_payer **at = &queue->payers;

	while (*at && (*at)->number != number)
		at = &(*at)->next;
	if (!*at && (*at = calloc(1, sizeof(**at))))
		**at = (struct queue_payer){.number = number, .used = queue->used};
	return *at;
}

/* Returns the owner with a number, a new one if need be. NULL: no memory. */
static struct queue_owner *get_owner(struct queue_payer *payer, uint32_t number)
{
	struct queue_owner **at = &payer->owners;

	while (*at && (*at)->number != number)
		at = &(*at)->next;
	if (!*at && (*at = calloc(1, sizeof(**at))))
		**at = (struct queue_owner){.number = number, .used = payer->level};
	return *at;
}

static void forget_payer(struct queue *queue, struct queue_payer *payer)
{
	struct queue_payer **at = &queue->payers;

	while (*at != payer)
		at = &(*at)->next;
	*at = payer->next;
	free(payer);
}

/* Puts a task among those that may begin. Returns 0 or -ENOMEM. */
static int line_up(struct queue *queue, struct task *task)
{
	struct queue_payer *payer = get_payer(queue, task->job.payer);
	struct queue_owner *owner;
	struct task **place;

	if (!payer)
		return -ENOMEM;
	owner = get_owner(payer, task->job.owner);
	if (!owner) {
		if (!payer->owners)
			forget_payer(queue, payer);
		return -ENOMEM;
	}
	for (place = &owner->waiting; *place && (*place)->job.size <= task->job.size;)
		place = &(*place)->next;
	task->next = *place;
	*place = task;
	payer->waiting++;
	return 0;
}

/* ---- payers of a task ---- */

static uint64_t payer_at(const struct task *task, unsigned int index)
{
	if (index == 0)
		return task->job.payer;
	return task->others[index - 1];
}

/* Finds the first payer that may begin. */
static bool may_begin(const struct queue *queue, const struct task *task, uint64_t now,
		      uint64_t *ret_payer)
{
	for (unsigned int i = 0; i <= task->other_count; i++) {
		*ret_payer = payer_at(task, i);
		if (budget_allows(queue->budget, *ret_payer, now))
			return true;
	}
	return false;
}

static bool has_payer(const struct task *task, uint64_t payer)
{
	for (unsigned int i = 0; i <= task->other_count; i++)
		if (payer_at(task, i) == payer)
			return true;
	return false;
}

/* ---- resting ---- */

/* Returns the time at which one of the payers may be able to begin. */
static uint64_t due_at(const struct queue *queue, const struct task *task, uint64_t now)
{
	uint64_t due = UINT64_MAX;

	for (unsigned int i = 0; i <= task->other_count; i++) {
		uint64_t at = budget_allows_at(queue->budget, payer_at(task, i), now);

		if (at < due)
			due = at;
	}
	return due;
}

static size_t count_resting(const struct queue *queue, uint64_t payer)
{
	size_t count = 0;

	for (const struct task *task = queue->resting; task; task = task->next)
		count += task->job.payer == payer;
	return count;
}

/* A payer gets at most as many places as it leaves to others. */
static bool may_rest(const struct queue *queue, uint64_t payer)
{
	const size_t own = count_resting(queue, payer);

	return own < PARSER_RESTING_MAX && queue->resting_count < PARSER_RESTING_ALL &&
	       own < PARSER_RESTING_ALL - queue->resting_count;
}

static void insert_resting(struct queue *queue, struct task *task)
{
	struct task **at = &queue->resting;

	while (*at && (*at)->due <= task->due)
		at = &(*at)->next;
	task->next = *at;
	*at = task;
	queue->resting_count++;
}

/* Returns 0, or -EDQUOT: there is no place. */
static int rest(struct queue *queue, struct task *task, uint64_t now)
{
	if (!may_rest(queue, task->job.payer))
		return -EDQUOT;
	queue->rested += !task->rested;
	task->rested = true;
	task->due = due_at(queue, task, now);
	insert_resting(queue, task);
	return 0;
}

static struct task *take_resting(struct queue *queue, struct task **at)
{
	struct task *task = *at;

	*at = task->next;
	queue->resting_count--;
	return task;
}

static void refuse(struct queue *queue, struct task *task)
{
	task->next = queue->refused;
	queue->refused = task;
}

/* Lines up the tasks that are due. Their payers may have been charged meanwhile. */
static void wake(struct queue *queue, uint64_t now)
{
	while (queue->resting && queue->resting->due <= now) {
		struct task *task = take_resting(queue, &queue->resting);

		if (line_up(queue, task) < 0)
			refuse(queue, task);
	}
}

int queue_put(struct queue *queue, struct task *task, uint64_t now)
{
	uint64_t pays;

	if (may_begin(queue, task, now, &pays))
		return line_up(queue, task);
	return rest(queue, task, now);
}

/* ---- looking ---- */

static struct task *find_in(struct task *list, uint64_t number)
{
	while (list && list->job.number != number)
		list = list->next;
	return list;
}

/* Returns the task with a number among those that do not rest, or NULL. */
static struct task *find_task(const struct queue *queue, uint64_t number)
{
	for (struct queue_payer *payer = queue->payers; payer; payer = payer->next)
		for (struct queue_owner *owner = payer->owners; owner; owner = owner->next) {
			struct task *task = find_in(owner->waiting, number);

			if (task)
				return task;
		}
	return NULL;
}

/* Returns the place for another payer: a free one, or that of a payer that may not begin. NULL: all
 * may begin. The task stays in the order of its first payer. */
static uint64_t *place_for_payer(const struct queue *queue, struct task *task, uint64_t now)
{
	if (task->other_count < TASK_PAYERS - 1)
		return &task->others[task->other_count++];
	for (unsigned int i = 0; i < task->other_count; i++)
		if (!budget_allows(queue->budget, task->others[i], now))
			return &task->others[i];
	return NULL;
}

static void add_payer(const struct queue *queue, struct task *task, uint64_t payer, uint64_t now)
{
	uint64_t *place;

	if (has_payer(task, payer))
		return;
	if (task->other_count == TASK_PAYERS - 1 && !budget_allows(queue->budget, payer, now))
		return;
	place = place_for_payer(queue, task, now);
	if (place)
		*place = payer;
}

void queue_add_payer(struct queue *queue, uint64_t number, uint64_t payer, uint64_t now)
{
	struct task **at = &queue->resting, *task;

	while (*at && (*at)->job.number != number)
		at = &(*at)->next;
	if (*at) {
		task = take_resting(queue, at);
		add_payer(queue, task, payer, now);
		task->due = due_at(queue, task, now);
		insert_resting(queue, task);
		return;
	}
	task = find_task(queue, number);
	if (task)
		add_payer(queue, task, payer, now);
}

size_t queue_waiting(const struct queue *queue, uint64_t number)
{
	const struct queue_payer *payer = find_payer(queue, number);
	const size_t resting = count_resting(queue, number);

	if (!payer)
		return resting;
	return payer->waiting + resting;
}

uint64_t queue_due(const struct queue *queue, uint64_t now)
{
	if (queue->payers)
		return now;
	if (!queue->resting)
		return UINT64_MAX;
	if (queue->resting->due <= now)
		return now;
	return queue->resting->due;
}

/* ---- taking ---- */

struct choice {
	struct queue_payer *payer;
	struct queue_owner *owner; /* of its first task; NULL: none yet */
	uint64_t pays;
};

static bool is_before(const struct queue_payer *payer, const struct queue_owner *owner,
		      const struct choice *choice)
{
	if (!choice->owner)
		return true;
	if (payer->used != choice->payer->used)
		return payer->used < choice->payer->used;
	return payer == choice->payer && owner->used < choice->owner->used;
}

/* Chooses the smallest task of an owner that may begin. The tasks before it rest from now on. */
static void choose(struct queue *queue, struct queue_payer *payer, struct queue_owner *owner,
		   size_t most, uint64_t now, struct choice *choice)
{
	struct task *task;
	uint64_t pays;

	while ((task = owner->waiting) != NULL && task->job.size <= most) {
		if (may_begin(queue, task, now, &pays)) {
			*choice = (struct choice){payer, owner, pays};
			return;
		}
		owner->waiting = task->next;
		payer->waiting--;
		if (rest(queue, task, now) < 0)
			refuse(queue, task);
	}
}

static uint64_t cost(const struct task *task)
{
	if (task->job.size < QUEUE_COST_MIN)
		return QUEUE_COST_MIN;
	if (task->job.size > QUEUE_COST_MAX)
		return QUEUE_COST_MAX;
	return task->job.size;
}

static void forget_owner(struct queue_payer *payer, struct queue_owner *owner)
{
	struct queue_owner **at = &payer->owners;

	while (*at != owner)
		at = &(*at)->next;
	*at = owner->next;
	free(owner);
}

static struct task *take(struct queue *queue, const struct choice *choice)
{
	struct queue_payer *payer = choice->payer;
	struct queue_owner *owner = choice->owner;
	struct task *task = owner->waiting;

	owner->waiting = task->next;
	queue->used = payer->used;
	payer->level = owner->used;
	payer->used += cost(task);
	owner->used += cost(task);
	payer->waiting--;
	if (!owner->waiting)
		forget_owner(payer, owner);
	if (!payer->owners)
		forget_payer(queue, payer);
	return task;
}

static void choose_of(struct queue *queue, struct queue_payer *payer, size_t most, uint64_t now,
		      struct choice *choice)
{
	struct queue_owner *owner = payer->owners, *next;

	for (; owner; owner = next) {
		next = owner->next;
		if (is_before(payer, owner, choice))
			choose(queue, payer, owner, most, now, choice);
		if (!owner->waiting)
			forget_owner(payer, owner);
	}
}

struct task *queue_take(struct queue *queue, size_t most, uint64_t now, uint64_t *ret_payer)
{
	struct queue_payer *payer, *next;
	struct choice choice = {0};

	wake(queue, now);
	for (payer = queue->payers; payer; payer = next) {
		next = payer->next;
		choose_of(queue, payer, most, now, &choice);
		if (!payer->owners)
			forget_payer(queue, payer);
	}
	if (!choice.owner)
		return NULL;
	*ret_payer = choice.pays;
	return take(queue, &choice);
}

struct task *queue_take_refused(struct queue *queue)
{
	struct task *task = queue->refused;

	if (task)
		queue->refused = task->next;
	return task;
}

struct task *queue_remove(struct queue *queue)
{
	struct choice choice = {.payer = queue->payers};

	if (queue->resting)
		return take_resting(queue, &queue->resting);
	if (!choice.payer)
		return queue_take_refused(queue);
	choice.owner = choice.payer->owners;
	return take(queue, &choice);
}

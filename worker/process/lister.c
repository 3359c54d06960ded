/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/lister.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "worker/process/launch.h"
#include "worker/process/listing.h"
#include "worker/process/mapping.h"
#include "worker/process/process.h"
#include "worker/process/roster.h"
#include "worker/target/target.h"

void lister_init(struct lister *lister, const struct tracker_parts *parts, struct roster *roster,
		 const struct launches *launches)
{
	*lister = (struct lister){.parts = parts, .roster = roster, .launches = launches};
}

static void on_answer(void *context, uint64_t key, struct target_reply *reply);

bool lister_ask(struct lister *lister, struct process *process)
{
	struct target *target = lister->parts->target;
	const struct target_request request = {
		.kind = TARGET_MAPS,
		.process = process_asked(process),
		.done = on_answer,
		.context = lister,
		.key = process_slot_key(process->pid, process->generation),
	};

	if (target->ask(target, &request) < 0)
		return false;
	lister->under_way++;
	process->found = false;
	process->asked = lister->parts->clock();
	process->asked_losses = lister->losses;
	process_step(process, PROCESS_WAS_ASKED);
	return true;
}

/* ---- processes from before the start ---- */

void lister_release(struct lister *lister)
{
	free(lister->found);
	lister->found = NULL;
}

void lister_find(struct lister *lister, struct process *process, uint64_t runtime)
{
	int r = ARRAY_RESERVE(lister->found, lister->found_capacity, lister->found_count + 1);

	if (r < 0) /* the first sample lists the process */
		return;
	lister->found[lister->found_count++] =
		(struct lister_found){process->pid, process->generation, runtime};
	lister->sorted = false;
	process->found = true;
}

static int by_runtime(const void *a, const void *b)
{
	const struct lister_found *left = a, *right = b;

	return (left->runtime > right->runtime) - (left->runtime < right->runtime);
}

/* Returns the process that has used most CPU time of those that wait, or NULL. */
static struct process *take_found(struct lister *lister)
{
	while (lister->found_count > 0) {
		const struct lister_found *found = &lister->found[--lister->found_count];
		struct process *process =
			processes_find(lister->roster->processes, found->pid, found->generation);

		if (process && process->found && !process_state_is_ended(process->state))
			return process;
	}
	return NULL;
}

/* Returns how many questions delay others: those that wait apart do not. */
static size_t count_urgent(const struct lister *lister)
{
	const size_t apart = lister->parts->target->waiting;

	if (apart > lister->under_way)
		return 0;
	return lister->under_way - apart;
}

void lister_turn(struct lister *lister)
{
	if (!lister->sorted && lister->found_count > 1)
		qsort(lister->found, lister->found_count, sizeof(*lister->found), by_runtime);
	lister->sorted = true;
	while (count_urgent(lister) < LISTINGS_AT_ONCE) {
		struct process *process = take_found(lister);

		if (!process)
			return;
		lister_ask(lister, process);
	}
}

/* ---- again ---- */

/* Counts a listing of this second. False: there were too many. */
static bool take_turn(struct lister *lister, uint64_t now)
{
	if (now / NS_PER_SECOND != lister->second) {
		lister->second = now / NS_PER_SECOND;
		lister->relists = 0;
	}
	if (lister->relists >= TRACKER_RELISTS_PER_SECOND)
		return false;
	lister->relists++;
	lister->counts.relists++;
	return true;
}

static void put_off(struct lister *lister, struct process *process)
{
	if (!process->put_off)
		lister->counts.put_off++;
	process->put_off = true;
}

static void widen_gap(struct process *process, uint64_t now)
{
	if (process->relist_gap == 0)
		process->relist_gap = RELIST_GAP_FIRST;
	else if (process->relist_gap < RELIST_GAP_SECOND)
		process->relist_gap = RELIST_GAP_SECOND;
	else
		process->relist_gap *= 2;
	if (process->relist_gap > RELIST_GAP_MAX)
		process->relist_gap = RELIST_GAP_MAX;
	process->relist_after = now + process->relist_gap;
}

bool lister_relist(struct lister *lister, struct process *process, uint64_t now)
{
	if (process_state_is_asked(process->state))
		return true;
	if (process_state_is_ended(process->state) || now < process->relist_after)
		return false;
	if (process->found) /* the first listing, not another one */
		return lister_ask(lister, process);
	if (!take_turn(lister, now)) {
		put_off(lister, process);
		return false;
	}
	process->put_off = false;
	widen_gap(process, now);
	return lister_ask(lister, process);
}

bool lister_relist_doubtful(struct lister *lister, struct process *process, uint64_t now)
{
	if (process_state_is_asked(process->state))
		return true;
	if (process->losses == lister->losses)
		return false;
	return lister_relist(lister, process, now);
}

void lister_look(struct lister *lister, struct process *process)
{
	if (process_state_is_complete(process->state) && !process_state_is_asked(process->state))
		lister_ask(lister, process);
}

void lister_retry(struct lister *lister, struct process *process)
{
	if (process_state_is_early(process->state) && !lister_ask(lister, process))
		roster_wake(lister->roster, process);
}

void lister_look_for_ended(struct lister *lister)
{
	int asked = 0;

	while (asked < CHECKS_A_SECOND) {
		struct process *process = processes_next(lister->roster->processes, &lister->check);

		if (!process) {
			lister->check = 0;
			return;
		}
		if (process_state_is_ended(process->state) ||
		    process_state_is_asked(process->state))
			continue;
		if (lister_ask(lister, process))
			asked++;
	}
}

/* ---- answers ---- */

/* Counts mappings that did not fit. Each listing refuses the same ones again. */
static void count_refused(struct lister *lister, struct process *process, uint64_t refused)
{
	if (refused <= process->refused)
		return;
	lister->counts.refused += refused - process->refused;
	process->refused = refused;
}

/* Returns false without memory. */
static bool apply(struct lister *lister, struct process *process, const struct listing *listing,
		  uint64_t now)
{
	uint64_t refused = listing->refused;

	if (roster_own_mappings(process) < 0)
		return false;
	if (mappings_replace(process->mappings, listing->items, listing->count, process->asked,
			     now) < 0)
		refused++;
	count_refused(lister, process, refused);
	process->losses = process->asked_losses;
	return true;
}

/* A context that was found is looked at soon. */
static void take_context(struct process *process, const struct listing *listing)
{
	struct process_context *context = &process->context;

	if (context->start == listing->context_start && context->end == listing->context_end)
		return;
	context->start = listing->context_start;
	context->end = listing->context_end;
	context->after = 0;
}

/* Returns false for a listing that is empty, as that of a main thread that has exited before other
 * threads is. */
static bool take_listing(struct lister *lister, struct process *process,
			 const struct target_reply *reply, uint64_t now)
{
	enum process_event event = PROCESS_NOT_LISTED;
	struct listing listing;
	bool useful = false;

	if (reply->error == 0 && listing_read(lister->parts, reply->fd, &listing) == 0) {
		useful = listing.count > 0;
		if (useful && apply(lister, process, &listing, now))
			event = PROCESS_LISTED;
		take_context(process, &listing);
		listing_release(&listing);
	}
	process_step(process, event);
	return useful;
}

/* Returns true when a listed process is there no more, even if no event tells so. */
static bool is_gone(const struct process *process, const struct target_reply *reply)
{
	return reply->error == -ENOENT && process_state_is_complete(process->state) &&
	       process_asked(process).thread == process->pid;
}

static void change_route(struct process *process)
{
	if (process->route == PROCESS_BY_PID)
		process->route = PROCESS_BY_THREAD;
	else
		process->route = PROCESS_BY_PID;
}

static void take_answer(struct lister *lister, struct process *process,
			const struct target_reply *reply, uint64_t now)
{
	/* While a program starts under the pid, the listing may show that program's mappings.
	 * Events of that program tell its mappings as well. */
	if (launches_find(lister->launches, process->pid)) {
		process_step(process, PROCESS_NOT_LISTED);
		lister_relist(lister, process, now);
		return;
	}
	if (is_gone(process, reply)) {
		roster_end(lister->roster, process, now);
		return;
	}
	if (take_listing(lister, process, reply, now))
		return;
	change_route(process);
	if (process->tid != 0)
		lister_relist(lister, process, now);
}

static void on_answer(void *context, uint64_t key, struct target_reply *reply)
{
	struct lister *lister = context;
	uint64_t now = lister->parts->clock();
	/* The events that this applies may end the process. */
	bool current = lister->parts->catch_up(lister->parts->catch_up_context);
	struct process *process = processes_find(lister->roster->processes, key & PROCESS_PID_MAX,
						 key >> PROCESS_PID_BITS);

	lister->under_way--;
	lister_turn(lister);
	if (!process)
		return;
	roster_wake(lister->roster, process);
	lister->answers++;
	if (!process_state_is_asked(process->state)) /* ended meanwhile */
		return;
	if (current)
		take_answer(lister, process, reply, now);
	else
		process_step(process, PROCESS_TOO_EARLY);
}

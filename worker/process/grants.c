/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/process/grants.h"

#include <errno.h>
#include <stddef.h>

#include "ipc/time.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/process.h"
#include "worker/process/roster.h"
#include "worker/process/tracker_parts.h"
#include "worker/runtime/runtime.h"
#include "worker/target/target.h"

/* Returns a mapping of a runtime that was not asked about last, or NULL. */
static const struct mapping *find_runtime(const struct process *process)
{
	const struct mappings *mappings = process->mappings;

	for (size_t i = 0; i < mappings->open_count; i++) {
		const struct mapping *mapping = &mappings->open[i];

		if (!mapping->object || (!runtime_has_handler(mapping->object->runtime) &&
					 mapping->object->go.form == GO_LABELS_NONE))
			continue;
		if (mapping->start != process->grant.start)
			return mapping;
	}
	return NULL;
}

bool grants_want(const struct process *process)
{
	const struct process_grant *grant = &process->grant;

	if (grant->state == GRANT_ASKED || grant->state == GRANT_GIVEN ||
	    grant->tries >= GRANT_TRIES)
		return false;
	if (!process_state_is_complete(process->state) || process_state_is_ended(process->state))
		return false;
	return find_runtime(process) != NULL;
}

void grants_note(struct process *process, enum runtime_result result)
{
	struct process_grant *grant = &process->grant;

	if (result == RUNTIME_DENIED && grant->state == GRANT_GIVEN) {
		grant->state = GRANT_REFUSED;
		grant->error = -EPERM;
		grant->tries = GRANT_TRIES; /* the broker has nothing to add */
		grant->is_by_cgroup = true;
	} else if (result == RUNTIME_WHOLE && grant->is_by_cgroup) {
		grant->state = GRANT_GIVEN;
		grant->is_by_cgroup = false;
	}
}

/* ---- answers ---- */

/* Returns whether the answer says nothing about forks of the process, which may live on. */
static bool is_of_asker_alone(int error)
{
	return error == -ENOENT || error == -ESRCH;
}

static void take_refusal(struct process_grant *grant, bool asker, int error, uint64_t now)
{
	grant->state = GRANT_REFUSED;
	grant->error = error;
	if (error == -EBUSY) {
		grant->start = 0;
		grant->after = now + NS_PER_SECOND;
	} else if (!asker && is_of_asker_alone(error)) {
		grant->state = GRANT_NOT_ASKED;
		grant->start = 0;
	}
}

static void take_answer(struct grants *grants, struct process *process, uint64_t asker, int error)
{
	struct process_grant *grant = &process->grant;

	if (grant->asker != asker || grant->state != GRANT_ASKED)
		return;
	if (error == 0) {
		grant->state = GRANT_GIVEN;
		return;
	}
	take_refusal(grant, process->generation == asker, error, grants->parts->clock());
	if (grants_want(process))
		roster_wake(grants->roster, process);
}

/* key: the generation of the process, whose forks wait for the same answer. */
static void take_reply(struct grants *grants, uint64_t key, const struct target_reply *reply)
{
	struct process *process;
	size_t cursor = 0;

	grants->given += reply->error == 0;
	grants->refused += reply->error != 0;
	grants->roster->changed = true;
	while ((process = processes_next(grants->roster->processes, &cursor)) != NULL)
		take_answer(grants, process, key, reply->error);
}

static void on_answer(void *context, uint64_t key, struct target_reply *reply)
{
	struct grants *grants = context;

	grants->under_way--;
	take_reply(grants, key, reply);
}

static void on_answer_apart(void *context, uint64_t key, struct target_reply *reply)
{
	struct grants *grants = context;

	grants->apart--;
	take_reply(grants, key, reply);
}

/* ---- questions ---- */

/* Returns false when the process waits for a later turn. */
static bool ask(struct grants *grants, struct process *process, uint64_t now)
{
	struct target *target = grants->parts->target;
	const struct mapping *mapping = find_runtime(process);
	struct target_request request = {
		.kind = TARGET_GRANT,
		.process = process_asked(process),
		.start = mapping->start,
		.end = mapping->end,
		.generation = process->generation,
		.done = on_answer,
		.context = grants,
		.key = process->generation,
	};

	const bool apart = target_is_slow(target, &request.process);

	if (now < process->grant.after || (apart && grants->apart >= GRANTS_APART))
		return false;
	if (apart)
		request.done = on_answer_apart;
	if (target->ask(target, &request) < 0)
		return false;
	grants->under_way += !apart;
	grants->apart += apart;
	process->grant.state = GRANT_ASKED;
	process->grant.tries++;
	process->grant.asker = process->generation;
	process->grant.start = mapping->start;
	return true;
}

void grants_turn(struct grants *grants, uint64_t now)
{
	struct process *process = processes_awake(grants->roster->processes);

	grants->later = false;
	for (; process && grants->under_way < GRANTS_AT_ONCE; process = process->awake_next)
		if (grants_want(process) && !ask(grants, process, now))
			grants->later = true;
}

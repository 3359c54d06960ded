/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The role's spawner starts the new child with the same uid and layers. The loader checks the new
 * child as the loader checked the first one.
 */
#include "loader/replace.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "ipc/log.h"
#include "ipc/time.h"
#include "loader/equip.h"
#include "loader/failed.h"
#include "loader/recording.h"

#define FINAL_MS 2000 /* for the exporter to write what the worker gave it */

/* ---- deaths ------------------------------------------------------------------------------ */

#define MINUTES 10 /* deaths that are longer ago do not count */

/* By the number of deaths within MINUTES, which includes the new one. */
static const struct replace_plan plans[DEATHS_MAX + 1] = {
	[1] = {.what = REPLACE_START, .pause = 50 * NS_PER_MS},
	[2] = {.what = REPLACE_START, .pause = 800 * NS_PER_MS},
	[DEATHS_MAX] = {.what = REPLACE_END},
};

static unsigned int count_recent(const uint64_t deaths[DEATHS_MAX])
{
	unsigned int count = 1;

	while (count < DEATHS_MAX && deaths[count] &&
	       deaths[0] - deaths[count] < MINUTES * 60 * NS_PER_SECOND)
		count++;
	return count;
}

/* Returns whether the output is a stream of profiles: what was written once stays written. */
static bool is_stream(const struct recording *rec)
{
	return rec->options->given.every != 0;
}

/* ---- spawning ------------------------------------------------------------------------------ */

#define LAST_ROLE ((enum policy_role)(ROLE_SUPERVISED - 1))

/* Closes the channels of the roles first to last. A child ends when the channel to it does. */
static void release(struct recording *rec, enum policy_role first, enum policy_role last)
{
	for (int role = first; role <= (int)last; role++) {
		struct child *child = &rec->monitor.children[role];

		child->ended = child->told = child->explained = false;
		child->muted = child->stuck_in_vain = false;
		channel_release(&child->channel);
	}
}

/* Asks all spawners first: the new children start side by side. Explains each failure. */
static enum exit_status spawn_all(struct recording *rec, enum policy_role first,
				  enum policy_role last)
{
	enum exit_status status = EXIT_DONE;

	for (int role = first; role <= (int)last; role++) {
		struct child *child = &rec->monitor.children[role];
		int r = spawner_spawn(&child->spawner, &child->channel);

		if (r)
			status = failed("spawner", message_party_name((enum message_party)role), r);
	}
	return status;
}

/* Returns the result of the first child that is not ready, or EQUIP_READY. */
static enum equip_result spawn_again(struct recording *rec, enum policy_role first,
				     enum policy_role last)
{
	release(rec, first, last);
	if (spawn_all(rec, first, last) != EXIT_DONE)
		return EQUIP_ABSENT;
	for (int role = first; role <= (int)last; role++) {
		enum equip_result result;

		monitor_audit(&rec->monitor, AUDIT_restart, (enum message_party)role, 0, 0);
		result = equip_expect_ready(rec, &rec->monitor.children[role]);
		if (result != EQUIP_READY)
			return result;
	}
	return EQUIP_READY;
}

/* ---- each role ----------------------------------------------------------------------------- */

/*
 * Waits for the end of the exporter, which ends by itself without a worker. By then the exporter
 * has written to the stream every whole part that the worker gave it.
 */
static enum exit_status await_exporter(struct recording *rec)
{
	struct child *exporter = &rec->monitor.children[ROLE_EXPORTER];
	int r;

	if (!is_stream(rec) || exporter->told)
		return EXIT_DONE;
	r = monitor_await_end(&rec->monitor, exporter, FINAL_MS);
	if (r == 0 && exporter->status)
		r = -EIO;
	if (r)
		return failed("output", rec->options->output, r);
	return EXIT_DONE;
}

/* Spends the pause before a new worker, which only the end of the recording interrupts. */
static enum exit_status pause_worker(struct recording *rec, uint64_t pause)
{
	const uint64_t death = rec->monitor.children[ROLE_WORKER].deaths[0];
	const enum monitor_result result = monitor_run(&rec->monitor, GOAL_STOP, death + pause);

	if (result == MONITOR_TIMEOUT)
		return EXIT_DONE;
	if (result == MONITOR_REACHED)
		log_error("record: %s: stopped before a new keyhole-worker ran",
			  rec->options->output);
	return EXIT_FAILED;
}

static enum exit_status start_worker_again(struct recording *rec)
{
	enum exit_status status;

	rec->epoch++;
	status = await_exporter(rec);
	if (status != EXIT_DONE)
		return status;
	status = recording_take_step(rec, STEP_WORKER);
	if (status != EXIT_DONE)
		return status;
	if (spawn_again(rec, ROLE_WORKER, LAST_ROLE) != EQUIP_READY)
		return EXIT_FAILED;
	return equip_children(rec);
}

/*
 * Distrusts everything that the ended worker had a hand in. The worker's peers are new as well, and
 * the new worker finds its rings and tables by the epoch alone. No event is enabled meanwhile, so
 * no walk of an earlier epoch is left.
 */
static enum exit_status replace_worker(struct recording *rec, const struct replace_plan *plan)
{
	const uint64_t ended = rec->monitor.children[ROLE_WORKER].deaths[0];
	enum exit_status status;

	release(rec, ROLE_WORKER, ROLE_WORKER);
	release(rec, ROLE_BROKER, ROLE_BROKER);
	rec->monitor.children[ROLE_EXPORTER].muted = true; /* see await_exporter() */
	status = pause_worker(rec, plan->pause);
	if (status != EXIT_DONE)
		return status;
	status = start_worker_again(rec);
	if (status != EXIT_DONE)
		return status;
	programs_begin_epoch(&rec->programs, rec->epoch);
	log_warning("record: keyhole-worker: replaced after %.0f ms; its samples are lost",
		    (double)(time_now() - ended) / NS_PER_MS);
	return EXIT_DONE;
}

/*
 * Lets the child run that was given its descriptors with the result r. Explains a failure. -EPIPE
 * is none: the monitor sees the end of the worker or the child like any other end.
 */
static enum exit_status let_run(struct recording *rec, enum policy_role role, int r)
{
	rec->monitor.children[role].channel.phase = PHASE_RUN;
	if (r && r != -EPIPE)
		return failed("start", message_party_name((enum message_party)role), r);
	return EXIT_DONE;
}

/* Fails for a refused broker. A recording goes on without a broker, but names no new files. */
static enum exit_status replace_broker(struct recording *rec, const struct replace_plan *plan)
{
	enum equip_result result = EQUIP_ABSENT;

	if (plan->what == REPLACE_START)
		result = spawn_again(rec, ROLE_BROKER, ROLE_BROKER);
	if (result == EQUIP_REFUSED)
		return EXIT_FAILED;
	if (result == EQUIP_READY && let_run(rec, ROLE_BROKER, equip_broker(rec, 0)) == EXIT_DONE)
		return EXIT_DONE;
	log_warning("broker: keyhole-broker: not replaced; new files are not read any more");
	release(rec, ROLE_BROKER, ROLE_BROKER);
	return EXIT_DONE;
}

/* Moves back to the start of the output if the ended exporter may have written to the output. */
static int rewind_output(const struct recording *rec)
{
	if (rec->monitor.goal != GOAL_WRITTEN && !is_stream(rec))
		return 0;
	if (!strcmp(rec->options->output, "-"))
		return -ESPIPE;
	if (lseek(rec->output.fd, 0, SEEK_SET) < 0)
		return -errno;
	return 0;
}

static enum exit_status replace_exporter(struct recording *rec, const struct replace_plan *plan)
{
	int r = rewind_output(rec);

	(void)plan;
	if (r)
		return failed("output", rec->options->output, r);
	if (rec->monitor.children[ROLE_WORKER].channel.fd < 0) {
		log_error(
			"record: %s: nothing written: keyhole-worker ended, and then the exporter "
			"with the profile",
			rec->options->output);
		return EXIT_FAILED;
	}
	if (rec->monitor.goal == GOAL_WRITTEN)
		monitor_lose_draft(&rec->monitor);
	if (spawn_again(rec, ROLE_EXPORTER, ROLE_EXPORTER) != EQUIP_READY)
		return EXIT_FAILED;
	return let_run(rec, ROLE_EXPORTER, equip_exporter(rec));
}

/* ---- each end ------------------------------------------------------------------------------ */

static const struct {
	enum exit_status (*replace)(struct recording *rec, const struct replace_plan *plan);
	unsigned int losses_max; /* further ones leave the recording without the role's child */
	bool dispensable;	 /* the profile so far can be written without the role's child */
} roles[] = {
	[ROLE_WORKER] = {replace_worker, UINT_MAX, false},
	[ROLE_EXPORTER] = {replace_exporter, UINT_MAX, false},
	[ROLE_BROKER] = {replace_broker, 20, true},
};
_Static_assert(sizeof(roles) / sizeof(roles[0]) == ROLE_SUPERVISED, "a row a role");

struct replace_plan replace_decide(const struct child *child, enum policy_role role,
				   enum child_end end)
{
	struct replace_plan plan = plans[1];

	if (end != CHILD_HANGS)
		plan = plans[count_recent(child->deaths)];
	if (plan.what == REPLACE_START && child->losses > roles[role].losses_max)
		plan.what = REPLACE_WITHOUT;
	return plan;
}

/* Says that the role's child died too often. */
static enum monitor_result give_up(struct recording *rec, enum policy_role role)
{
	log_error("record: %s: ended %d times within %d minutes; the recording ends",
		  message_party_name((enum message_party)role), DEATHS_MAX, MINUTES);
	rec->status = EXIT_FAILED;
	release(rec, role, role);
	if (roles[role].dispensable)
		return MONITOR_GAVE_UP;
	return MONITOR_FAILED;
}

/* A broker hangs because a target does: its loss is no death. */
static void count_loss(struct child *child, enum child_end end)
{
	child->losses++;
	if (end == CHILD_HANGS)
		return;
	memmove(child->deaths + 1, child->deaths, sizeof(child->deaths) - sizeof(child->deaths[0]));
	child->deaths[0] = time_now();
}

static enum monitor_result replace(struct recording *rec, enum policy_role role, enum child_end end)
{
	struct child *child = &rec->monitor.children[role];
	const bool sampling = rec->monitor.goal == GOAL_STOP;
	struct replace_plan plan;
	int r = 0;

	count_loss(child, end);
	plan = replace_decide(child, role, end);
	if (plan.what == REPLACE_END)
		return give_up(rec, role);
	/* the spawner kills a child that still runs */
	if (end == CHILD_HANGS && plan.what == REPLACE_START)
		monitor_audit(&rec->monitor, AUDIT_kill, (enum message_party)role, KILL_HANGS, 0);
	if (roles[role].replace(rec, &plan) != EXIT_DONE)
		return MONITOR_FAILED;
	if (sampling)
		r = events_enable(&rec->events);
	if (r == 0)
		return MONITOR_RUNNING;
	failed("record", "start of sampling", r);
	return MONITOR_FAILED;
}

/* ---- a worker that is not replaced --------------------------------------------------------- */

/* Goes on without the worker. The worker's end makes the exporter write the draft. */
static void take_draft(struct recording *rec)
{
	const char *samples = "";

	release(rec, ROLE_WORKER, ROLE_WORKER);
	if (monitor_has_profile(&rec->monitor))
		return; /* then the exporter writes the profile itself */
	rec->status = EXIT_FAILED;
	/* the first draft comes before the worker has read what is left in the rings */
	if (rec->monitor.drafts == 1)
		samples = "; the last samples may be missing, and count as lost";
	log_error("record: %s: without the names and lines that keyhole-worker had not read yet; "
		  "keyhole symbolize may find them%s",
		  rec->options->output, samples);
}

bool replace_by_draft(struct recording *rec)
{
	struct child *worker = &rec->monitor.children[ROLE_WORKER];

	if (worker->channel.fd < 0 || !rec->monitor.drafted)
		return false;
	if (monitor_has_profile(&rec->monitor))
		return false;
	monitor_audit(&rec->monitor, AUDIT_kill, PARTY_WORKER, KILL_DRAFT, 0);
	spawner_stop(&worker->spawner); /* which kills the worker */
	take_draft(rec);
	return true;
}

static bool has_draft(const struct recording *rec)
{
	return rec->monitor.drafted || monitor_has_profile(&rec->monitor);
}

static enum monitor_result carry_out(struct recording *rec, struct monitor_verdict verdict)
{
	switch (verdict.fate) {
	case FATE_REPLACE:
		return replace(rec, verdict.role, verdict.end);
	case FATE_WITHOUT:
		release(rec, verdict.role, verdict.role);
		return MONITOR_RUNNING;
	case FATE_DRAFT:
		if (!has_draft(rec))
			break;
		take_draft(rec);
		return MONITOR_RUNNING;
	case FATE_FAIL:
		break;
	}
	return MONITOR_FAILED;
}

/* Sampling stops before anything that may have to wait. */
static enum monitor_result on_end(struct recording *rec)
{
	events_disable(&rec->events);
	return carry_out(rec, monitor_explain(&rec->monitor));
}

/* Sampling goes on meanwhile. */
static enum monitor_result on_hang(struct recording *rec)
{
	return carry_out(rec, monitor_explain_hang(&rec->monitor));
}

enum monitor_result replace_watch(struct recording *rec, enum monitor_goal goal, uint64_t until)
{
	enum monitor_result result;

	do {
		result = monitor_run(&rec->monitor, goal, until);
		if (result == MONITOR_ENDED)
			result = on_end(rec);
		else if (result == MONITOR_HANGS)
			result = on_hang(rec);
	} while (result == MONITOR_RUNNING);
	return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The role's spawner starts the new child with the same uid and layers. The loader checks the new
 * child as the loader checked the first one.
 */
#include "loader/replace.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "ipc/log.h"
#include "ipc/time.h"
#include "loader/equip.h"
#include "loader/failed.h"
#include "loader/recording.h"

#define PAUSE_NS  (50 * NS_PER_MS) /* before a new worker */
#define AGAIN_NS  (16 * PAUSE_NS)  /* before the second one within DEATHS_NS */
#define DEATHS_NS (600 * NS_PER_SECOND)
#define WHOLE_MS  2000 /* for a part of a stream to be written */

/* How a recording goes on after a child ended. */
enum outcome {
	GOES_ON,
	ENDS,  /* early, with the profile so far: MONITOR_GAVE_UP */
	FAILS, /* which was explained */
};

static bool is_recent(uint64_t time)
{
	return time && time_now() - time < DEATHS_NS;
}

/* Returns whether the output is a stream of profiles: what was written once stays written. */
static bool is_stream(const struct recording *rec)
{
	return rec->options->given.every != 0;
}

/* ---- spawning ------------------------------------------------------------------------------ */

static void release(struct recording *rec, enum policy_role first, enum policy_role last)
{
	for (int role = first; role <= (int)last; role++) {
		rec->monitor.children[role].ended = false;
		channel_release(&rec->monitor.children[role].channel);
		monitor_watch_child(&rec->monitor, (enum policy_role)role);
	}
}

/* Asks all spawners first: the new children start side by side. */
static enum exit_status spawn_all(struct recording *rec, enum policy_role first,
				  enum policy_role last)
{
	enum exit_status status = EXIT_DONE;

	for (int role = first; role <= (int)last; role++) {
		struct child *child = &rec->monitor.children[role];

		if (spawner_spawn(&child->spawner, &child->channel))
			status = EXIT_FAILED;
	}
	return status;
}

static enum exit_status spawn_again(struct recording *rec, enum policy_role first,
				    enum policy_role last)
{
	enum exit_status status;

	release(rec, first, last);
	status = spawn_all(rec, first, last);
	for (int role = first; status == EXIT_DONE && role <= (int)last; role++) {
		monitor_audit(&rec->monitor, AUDIT_restart, (enum message_party)role, 0, 0);
		status = equip_expect_ready(rec, &rec->monitor.children[role]);
		monitor_watch_child(&rec->monitor, (enum policy_role)role);
	}
	return status;
}

/* ---- each role ----------------------------------------------------------------------------- */

/*
 * Waits for the end of the exporter, which ends by itself without a worker. By then the exporter
 * has written to the stream what the worker gave it.
 */
static enum exit_status await_exporter(struct recording *rec)
{
	struct channel *spawner = &rec->monitor.children[ROLE_EXPORTER].spawner.channel;
	struct message message;
	int r;

	if (!is_stream(rec) || spawner->seen >> MESSAGE_EXITED & 1)
		return EXIT_DONE;
	r = channel_expect(spawner, MESSAGE_EXITED, WHOLE_MS, &message);
	if (r == 0 && message.EXITED.status)
		r = -EIO;
	if (r)
		return failed("output", rec->options->output, r);
	return EXIT_DONE;
}

/* Spends the pause before a new worker, which only the end of the recording interrupts. */
static enum exit_status pause_worker(struct recording *rec)
{
	const struct child *worker = &rec->monitor.children[ROLE_WORKER];
	enum monitor_result result;
	uint64_t until = worker->deaths[0] + PAUSE_NS;

	if (is_recent(worker->deaths[1]))
		until = worker->deaths[0] + AGAIN_NS;
	result = monitor_run(&rec->monitor, GOAL_STOP, until);
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
	status = spawn_again(rec, ROLE_WORKER, ROLE_BROKER);
	if (status != EXIT_DONE)
		return status;
	return equip_children(rec);
}

/*
 * Distrusts everything that the ended worker had a hand in. The worker's peers are new as well, and
 * the new worker finds its rings and tables by the epoch alone. No event is enabled meanwhile, so
 * no walk of an earlier epoch is left.
 */
static enum exit_status replace_worker(struct recording *rec)
{
	const uint64_t ended = rec->monitor.children[ROLE_WORKER].deaths[0];
	enum exit_status status;

	release(rec, ROLE_WORKER, ROLE_BROKER);
	status = pause_worker(rec);
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

/* Starts a new broker, unless too many came before. Returns whether there is one. */
static bool has_new_broker(struct recording *rec)
{
	int r;

	if (rec->monitor.brokers_lost > BROKERS_MAX)
		return false;
	if (spawn_again(rec, ROLE_BROKER, ROLE_BROKER) != EXIT_DONE)
		return false;
	r = equip_broker(rec, 0);
	/* -EPIPE: the monitor sees the end of the worker or the broker like any other end */
	return r == 0 || r == -EPIPE;
}

/* Returns EXIT_DONE also without a new broker: then new files are not named any more. */
static enum exit_status replace_broker(struct recording *rec)
{
	if (!has_new_broker(rec)) {
		log_error("broker: keyhole-broker: not replaced; new files are not read any more");
		release(rec, ROLE_BROKER, ROLE_BROKER);
	}
	rec->monitor.children[ROLE_BROKER].channel.phase = PHASE_RUN;
	return EXIT_DONE;
}

/* Returns whether nothing was written, or a file of ours can be written from its start again. */
static bool can_begin_anew(const struct recording *rec)
{
	if (rec->monitor.goal != GOAL_WRITTEN && !is_stream(rec))
		return true;
	if (!strcmp(rec->options->output, "-"))
		return false;
	return lseek(rec->output.fd, 0, SEEK_SET) == 0;
}

static enum exit_status replace_exporter(struct recording *rec)
{
	int r;

	if (!can_begin_anew(rec))
		return failed("output", rec->options->output, -ESPIPE);
	if (spawn_again(rec, ROLE_EXPORTER, ROLE_EXPORTER) != EXIT_DONE)
		return EXIT_FAILED;
	r = equip_exporter(rec);
	rec->monitor.children[ROLE_EXPORTER].channel.phase = PHASE_RUN;
	/* -EPIPE: the monitor sees the end of the worker or the exporter like any other end */
	if (r && r != -EPIPE)
		return failed("start", "keyhole-exporter", r);
	return EXIT_DONE;
}

/* ---- the decision -------------------------------------------------------------------------- */

/* Says that the role ended too often. Only without the broker can a profile be written. */
static enum outcome give_up(struct recording *rec, enum policy_role role)
{
	log_error("record: %s: ended three times within ten minutes; the recording ends",
		  message_party_name((enum message_party)role));
	rec->status = EXIT_FAILED;
	release(rec, role, role);
	if (role == ROLE_BROKER)
		return ENDS;
	return FAILS;
}

static enum outcome replace(struct recording *rec, enum policy_role role)
{
	static enum exit_status (*const ways[])(struct recording * rec) = {
		[ROLE_WORKER] = replace_worker,
		[ROLE_EXPORTER] = replace_exporter,
		[ROLE_BROKER] = replace_broker,
	};
	struct child *child = &rec->monitor.children[role];
	const bool finishing = rec->monitor.goal == GOAL_WRITTEN;
	const bool often = is_recent(child->deaths[1]);
	int r = 0;

	child->deaths[1] = child->deaths[0];
	child->deaths[0] = time_now();
	if (often)
		return give_up(rec, role);
	if (role == ROLE_BROKER)
		rec->monitor.brokers_lost++;
	if (ways[role](rec) != EXIT_DONE)
		return FAILS;
	if (!finishing)
		r = events_enable(&rec->events);
	if (r < 0) {
		failed("record", "start of sampling", r);
		return FAILS;
	}
	return GOES_ON;
}

static enum outcome on_stuck_broker(struct recording *rec)
{
	struct monitor *monitor = &rec->monitor;

	monitor->broker_stuck = false;
	if (monitor_decide(ROLE_BROKER, CHILD_HANGS, monitor->goal) == FATE_REPLACE)
		replace_broker(rec);
	return GOES_ON;
}

static enum outcome on_end(struct recording *rec)
{
	struct monitor *monitor = &rec->monitor;
	struct monitor_verdict verdict;

	if (monitor->broker_stuck)
		return on_stuck_broker(rec);
	/* before anything that may have to wait */
	events_disable(&rec->events);
	verdict = monitor_explain(monitor);
	switch (verdict.fate) {
	case FATE_REPLACE:
		return replace(rec, verdict.role);
	case FATE_WITHOUT:
		release(rec, verdict.role, verdict.role);
		return GOES_ON;
	case FATE_FAIL:
		break;
	}
	return FAILS;
}

enum monitor_result replace_watch(struct recording *rec, enum monitor_goal goal, uint64_t until)
{
	for (;;) {
		enum monitor_result result = monitor_run(&rec->monitor, goal, until);

		if (result != MONITOR_ENDED)
			return result;
		switch (on_end(rec)) {
		case GOES_ON:
			break;
		case ENDS:
			return MONITOR_GAVE_UP;
		case FAILS:
			return MONITOR_FAILED;
		}
	}
}

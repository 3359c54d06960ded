/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another child in the place of one: the role's spawner gives it the same uid and layers, and it is
 * checked as the first one was.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ipc/log.h"
#include "ipc/time.h"
#include "loader/recording.h"

#define PAUSE_NS  (50 * NS_PER_MS) /* before another worker */
#define AGAIN_NS  (16 * PAUSE_NS)  /* the second time within DEATHS_NS */
#define DEATHS_NS (600 * NS_PER_SECOND)
#define WHOLE_MS  2000 /* for a part of a stream to be written */

static bool is_recent(uint64_t time)
{
	return time && time_now() - time < DEATHS_NS;
}

static void release(struct recording *rec, enum policy_role first, enum policy_role last)
{
	for (int role = first; role <= (int)last; role++) {
		rec->monitor.children[role].ended = false;
		channel_release(&rec->monitor.children[role].channel);
		monitor_watch_child(&rec->monitor, (enum policy_role)role);
	}
}

static int spawn_again(struct recording *rec, enum policy_role first, enum policy_role last)
{
	struct child *children = rec->monitor.children;
	int r = EXIT_DONE;

	release(rec, first, last);
	for (int role = first; role <= (int)last; role++)
		if (spawner_spawn(&children[role].spawner, &children[role].channel))
			r = EXIT_FAILED;
	for (int role = first; r == EXIT_DONE && role <= (int)last; role++) {
		monitor_audit(&rec->monitor, AUDIT_restart, (enum message_party)role, 0, 0);
		r = expect_ready(rec, &children[role]);
		monitor_watch_child(&rec->monitor, (enum policy_role)role);
	}
	return r;
}

/* Ends by itself, without a worker: not before what it was given of a stream is in the output. */
static int await_exporter(struct recording *rec)
{
	struct channel *spawner = &rec->monitor.children[ROLE_EXPORTER].spawner.channel;
	struct message message;
	int r = 0;

	if (rec->options->given.every && !(spawner->seen >> MESSAGE_EXITED & 1))
		r = channel_expect(spawner, MESSAGE_EXITED, WHOLE_MS, &message)
			    ?: message.EXITED.status ? -EIO
						     : 0;
	return r ? failed("output", rec->options->output, r) : EXIT_DONE;
}

/*
 * All that the one before had a hand in is distrusted: its peers are new as well, and the new one
 * finds its rings and tables by the epoch alone. No event is enabled meanwhile: no walk is left.
 */
static int replace_worker(struct recording *rec)
{
	const struct child *worker = &rec->monitor.children[ROLE_WORKER];
	const uint64_t ended = worker->deaths[0];
	int r;

	release(rec, ROLE_WORKER, ROLE_BROKER);
	if (monitor_run(&rec->monitor, GOAL_STOP,
			ended + (is_recent(worker->deaths[1]) ? AGAIN_NS : PAUSE_NS)) !=
	    MONITOR_TIMEOUT)
		return failed("record", rec->options->output, -ECANCELED);
	rec->epoch++;
	r = await_exporter(rec) ?: take_step(rec, STEP_WORKER);
	r = r ? r : spawn_again(rec, ROLE_WORKER, ROLE_BROKER);
	r = r ? r : equip_children(rec);
	if (r)
		return r;
	programs_begin_epoch(&rec->programs, rec->epoch);
	log_warning("record: keyhole-worker: replaced after %.0f ms; its samples are lost",
		    (double)(time_now() - ended) / NS_PER_MS);
	return EXIT_DONE;
}

/* Without one the recording goes on: what is new is not named any more. */
static int replace_broker(struct recording *rec)
{
	struct child *broker = &rec->monitor.children[ROLE_BROKER];
	int r = EXIT_FAILED;

	if (rec->brokers++ < BROKERS_MAX)
		r = spawn_again(rec, ROLE_BROKER, ROLE_BROKER);
	r = r ? r : equip_broker(rec, 0);
	if (r && r != -EPIPE) { /* as below */
		log_error("broker: keyhole-broker: not replaced; new files are not read any more");
		release(rec, ROLE_BROKER, ROLE_BROKER);
	}
	broker->channel.phase = PHASE_RUN;
	return EXIT_DONE;
}

/* It may have written a part: only a file that is ours can be begun anew, and no stream. */
static int replace_exporter(struct recording *rec)
{
	int r;

	if ((rec->monitor.goal == GOAL_WRITTEN || rec->options->given.every) &&
	    (!strcmp(rec->options->output, "-") || lseek(rec->output.fd, 0, SEEK_SET)))
		return failed("output", rec->options->output, -ESPIPE);
	if (spawn_again(rec, ROLE_EXPORTER, ROLE_EXPORTER))
		return EXIT_FAILED;
	r = equip_exporter(rec);
	rec->monitor.children[ROLE_EXPORTER].channel.phase = PHASE_RUN;
	/* the end of either of the two is seen like any other */
	return r && r != -EPIPE ? failed("start", "keyhole-exporter", r) : EXIT_DONE;
}

/* MONITOR_TIMEOUT: the recording goes on. What a worker made is gone with it. */
static enum monitor_result replace(struct recording *rec, enum policy_role role)
{
	static int (*const ways[])(struct recording * rec) = {
		[ROLE_WORKER] = replace_worker,
		[ROLE_EXPORTER] = replace_exporter,
		[ROLE_BROKER] = replace_broker,
	};
	struct child *child = &rec->monitor.children[role];
	const bool finishing = rec->monitor.goal == GOAL_WRITTEN,
		   often = is_recent(child->deaths[1]);

	if (role == ROLE_LOADER || (role == ROLE_WORKER && finishing))
		return MONITOR_FAILED;
	child->deaths[1] = child->deaths[0];
	child->deaths[0] = time_now();
	if (often) {
		log_error("record: %s: ended three times within ten minutes; the recording ends",
			  message_party_name((enum message_party)role));
		rec->status = EXIT_FAILED;
		release(rec, role, role);
		return role == ROLE_BROKER ? MONITOR_REACHED : MONITOR_FAILED;
	}
	return ways[role](rec) || (!finishing && events_enable(&rec->events)) ? MONITOR_FAILED
									      : MONITOR_TIMEOUT;
}

static enum monitor_result on_end(struct recording *rec)
{
	struct monitor *monitor = &rec->monitor;
	enum policy_role role;

	if (monitor->broker_stuck) {
		monitor->broker_stuck = false;
		if (monitor->goal == GOAL_STOP) /* after STOP the worker takes none */
			replace_broker(rec);
		return MONITOR_TIMEOUT;
	}
	/* before anything that may have to wait */
	events_disable(&rec->events);
	role = monitor_explain(monitor);
	if (role != ROLE_BROKER || monitor->goal == GOAL_STOP)
		return replace(rec, role);
	release(rec, role, role); /* nobody needs it any more */
	return MONITOR_TIMEOUT;
}

enum monitor_result replace_watch(struct recording *rec, enum monitor_goal goal, uint64_t until)
{
	enum monitor_result result;

	do {
		result = monitor_run(&rec->monitor, goal, until);
		if (result != MONITOR_ENDED)
			return result;
		result = on_end(rec);
	} while (result == MONITOR_TIMEOUT);
	return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/sampling.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>

#include "ipc/log.h"
#include "ipc/time.h"
#include "loader/failed.h"
#include "loader/recording.h"
#include "loader/replace.h"
#include "loader/status.h"

#define FINISH_SECONDS 30
#define PROGRESS_NS    NS_PER_SECOND
#define DRAIN_STEP_MS  5
#define AGAIN_NS       (60 * NS_PER_SECOND) /* between starts of an agent for new CPUs */

/* ---- while sampling ------------------------------------------------------------------------ */

/* Gives keyhole-output the counts, by descriptors with which keyhole-output can only read. */
static enum exit_status begin_counting(struct recording *rec)
{
	const struct programs *programs = &rec->programs;
	const struct message_counts counts = {
		.sampling = rec->options->given.sampling,
		.cpus = programs->cpus,
		.cgroup = rec->cgroup >= 0,
		.rules = programs->rules,
		.off_cpu = programs_off_mode(rec->options),
	};
	const int count = COUNTS_RULES + (programs->rules > 0);

	for (int i = 0; i < count; i++) {
		int r = channel_send(&rec->output.channel, MESSAGE_COUNTS, &counts, sizeof(counts),
				     programs->counts[i]);

		if (r)
			return failed("output", "keyhole-output", r);
	}
	return recording_take_step(rec, STEP_BEGIN);
}

/* Returns when sampling ends, in ns by the monotonic clock. */
static uint64_t find_end(const struct recording *rec)
{
	const uint64_t duration = rec->options->given.duration;

	if (duration == 0)
		return UINT64_MAX;
	return rec->started + duration;
}

/* Draws whether an agent samples in the next interval, where that is to begin. */
static void take_chance(struct recording *rec)
{
	struct chance *chance = &rec->chance;
	const char *what = "sampled";

	if (!chance_turn(chance, &rec->options->given.chance, time_now()))
		return;
	programs_rest(&rec->programs, chance->resting);
	if (chance->resting)
		what = "not sampled";
	log_info("chance: %u s: %s", rec->options->given.chance.interval, what);
}

/* Tells of CPUs that are new. Returns whether an agent is to end for them. */
static bool has_outgrown(struct recording *rec)
{
	const uint32_t appeared = cpus_look(&rec->cpus);

	if (appeared)
		log_warning("events: %u CPU(s) came online: not sampled before the next start",
			    appeared);
	if (!rec->cpus.appeared || !(rec->options->given.flags & OPTIONS_AGENT))
		return false;
	if (time_now() < rec->begun + AGAIN_NS)
		return false;
	log_warning("agent: ends, to be started again with all CPUs");
	return true;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Supervises until the end, but no longer than until the next report of progress is due. */
static enum monitor_result watch_for_a_turn(struct recording *rec, uint64_t end)
{
	const uint64_t until = earlier(time_now() + PROGRESS_NS, end);
	enum monitor_result result;

	rec->monitor.progressed = false;
	result = replace_watch(rec, GOAL_STOP, until);
	if (rec->monitor.progressed)
		output_notify(&rec->output, "WATCHDOG=1");
	return result;
}

static enum monitor_result await_end(struct recording *rec)
{
	const struct message_progress *progress = &rec->monitor.progress;
	const uint64_t end = find_end(rec);

	while (time_now() < end) {
		enum monitor_result result;
		/* the call may take a second, when keyhole-output does not read */
		int r = channel_send(&rec->output.channel, MESSAGE_SEEN, progress,
				     sizeof(*progress), -1);

		if (r == -EPIPE) {
			failed("output", "keyhole-output", r);
			return MONITOR_FAILED;
		}
		export_refresh(&rec->options->export,
			       &rec->monitor.children[ROLE_EXPORTER].channel);
		status_update(rec);
		take_chance(rec);
		result = watch_for_a_turn(rec, earlier(end, rec->chance.until));
		if (result != MONITOR_TIMEOUT)
			return result;
		rec->outgrown = has_outgrown(rec);
		if (rec->outgrown)
			return MONITOR_REACHED;
	}
	return MONITOR_TIMEOUT;
}

/* Tells the service manager, the user and the audit stream that sampling has begun. */
static void announce(struct recording *rec)
{
	const struct message_sampling *sampling = &rec->options->given.sampling;
	struct monitor *monitor = &rec->monitor;

	output_notify(&rec->output, "READY=1");
	log_info("mode: brokered; event: %s, enabled %.0f ms after the start of keyhole",
		 rec->events.name, (double)(time_now() - rec->begun) / NS_PER_MS);
	monitor_audit(monitor, AUDIT_sampled, PARTY_LOADER, sampling->event, sampling->period);
	monitor_audit(monitor, AUDIT_sampling, PARTY_LOADER, sampling->frequency, 0);
}

enum exit_status sampling_run(struct recording *rec)
{
	enum monitor_result result;
	enum exit_status status = begin_counting(rec);
	int r;

	if (status != EXIT_DONE)
		return status;
	rec->started = time_now();
	take_chance(rec);
	accounts_begin(&rec->programs.accounts);
	r = events_enable(&rec->ticks);
	if (r == 0)
		r = events_enable(&rec->events);
	if (r)
		return failed("record", "start of sampling", r);
	off_cpu_begin(&rec->programs.off_cpu);
	announce(rec);
	export_warn(&rec->options->export);
	if (rec->command.pid)
		command_release(&rec->command);
	result = await_end(rec);
	/* Now: keyhole-output would count a zombie among the living and the dead. */
	command_reap(&rec->command);
	if (result == MONITOR_FAILED)
		return EXIT_FAILED;
	if (rec->monitor.unasked)
		rec->status = EXIT_FAILED;
	return EXIT_DONE;
}

/* ---- after sampling ------------------------------------------------------------------------ */

/* Lets the exporter take the profile. The successor of an exporter that ended learns the same. */
static enum exit_status prepare_exporter(struct recording *rec)
{
	struct channel *exporter = &rec->monitor.children[ROLE_EXPORTER].channel;
	int r = channel_send_bare(exporter, MESSAGE_FINISH, -1);

	if (r && r != -EPIPE)
		return failed("record", "keyhole-exporter", r);
	return EXIT_DONE;
}

static enum exit_status stop_worker(struct recording *rec, uint64_t stopped)
{
	struct child *worker = &rec->monitor.children[ROLE_WORKER];
	const struct message_stop stop = {
		.started = rec->started, .stopped = stopped, .waited = rec->waited};
	int r = channel_send(&worker->channel, MESSAGE_STOP, &stop, sizeof(stop), -1);

	recording_enter_phase(rec, PHASE_FINISH);
	worker->ended = r == -EPIPE;
	if (worker->ended)
		return EXIT_FAILED; /* monitor_explain() says why */
	if (r)
		return failed("record", "keyhole-worker", r);
	return EXIT_DONE;
}

/* Gives the worker some time, and the exporter as much again where the worker was too slow. */
static enum monitor_result await_written(struct recording *rec)
{
	uint64_t until = time_now() + FINISH_SECONDS * NS_PER_SECOND;
	enum monitor_result result;

	for (;;) {
		result = replace_watch(rec, GOAL_WRITTEN, until);
		if (result != MONITOR_HURRIED && result != MONITOR_TIMEOUT)
			return result;
		if (replace_by_draft(rec))
			until = time_now() + FINISH_SECONDS * NS_PER_SECOND;
		else if (result == MONITOR_TIMEOUT)
			return result;
	}
}

static enum exit_status await_profile(struct recording *rec)
{
	const char *output = rec->options->output;
	enum monitor_result result = await_written(rec);
	int error;

	if (result == MONITOR_ABORTED)
		log_error("record: %s: aborted, nothing written", output);
	else if (result == MONITOR_TIMEOUT)
		log_error("record: %s: not finished within %d s", output, FINISH_SECONDS);
	if (result != MONITOR_REACHED)
		return EXIT_FAILED;
	error = rec->monitor.written.error;
	if (recording_is_unread(rec))
		return EXIT_PIPE;
	/* keyhole-output explains an empty profile */
	if (error == 0 || error == -ENODATA)
		return EXIT_DONE;
	return failed("output", output, error);
}

static enum exit_status commit(struct recording *rec)
{
	const struct message_summary *summary = &rec->monitor.summary;
	int r = channel_send(&rec->output.channel, MESSAGE_NAMED, summary, sizeof(*summary), -1);

	if (r)
		return failed("output", rec->options->output, r);
	return recording_take_step(rec, STEP_COMMIT);
}

/* Lets the sampler, which takes no more samples, finish those that wait for mappings. */
static void drain(struct recording *rec)
{
	const uint64_t until = time_now() + 2 * KEPT_FOR_NS;

	do
		/* also for a CPU that is keeping a sample at this moment */
		poll(NULL, 0, DRAIN_STEP_MS);
	while (programs_drain(&rec->programs) > 0 && time_now() < until);
}

enum exit_status sampling_finish(struct recording *rec)
{
	uint64_t stopped;
	enum exit_status status;

	output_notify(&rec->output, "STOPPING=1");
	programs_drain(&rec->programs);
	stopped = time_now();
	/* before the wait, whose CPU time has no samples */
	status = recording_take_step(rec, STEP_END);
	if (status == EXIT_DONE)
		drain(rec);
	events_disable(&rec->events);
	events_disable(&rec->ticks);
	if (status != EXIT_DONE)
		return status;
	if (recording_is_unread(rec))
		return EXIT_PIPE;
	status = prepare_exporter(rec);
	if (status != EXIT_DONE)
		return status;
	status = stop_worker(rec, stopped);
	if (status != EXIT_DONE)
		return status;
	status = await_profile(rec);
	if (status != EXIT_DONE)
		return status;
	return commit(rec);
}

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

#define FINAL_MS 2000 /* for the exporter to write what the worker gave it */
#define FLUSH_MS 6000 /* for the exporter to send it to a server, for which it takes 5 s at most */

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
		child->muted = false;
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
			status = failed("spawner", monitor_name(role), r);
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
		struct child *child = &rec->monitor.children[role];
		enum equip_result result;

		child->restarts++;
		monitor_audit(&rec->monitor, AUDIT_restart, child->channel.peer, 0, 0);
		result = equip_expect_ready(rec, child);
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

/*
 * Returns whether the exporter outlives the worker, because its queue holds what the worker gave it
 * and a server may be away for long.
 */
static bool outlives(struct recording *rec)
{
	struct child *exporter = &rec->monitor.children[ROLE_EXPORTER];

	if (!export_has_server(&rec->options->export) || exporter->told)
		return false;
	return monitor_await_end(&rec->monitor, exporter, 0) == -ETIMEDOUT;
}

/* Starts the worker's peers as well, but for an exporter that outlives the worker. */
static enum exit_status spawn_worker(struct recording *rec)
{
	enum exit_status status;

	if (outlives(rec)) {
		rec->monitor.children[ROLE_EXPORTER].muted = false;
		if (spawn_again(rec, ROLE_WORKER, ROLE_WORKER) != EQUIP_READY ||
		    spawn_again(rec, ROLE_BROKER, ROLE_BROKER) != EQUIP_READY)
			return EXIT_FAILED;
		return EXIT_DONE;
	}
	status = await_exporter(rec);
	if (status != EXIT_DONE)
		return status;
	if (spawn_again(rec, ROLE_WORKER, LAST_ROLE) != EQUIP_READY)
		return EXIT_FAILED;
	return EXIT_DONE;
}

static enum exit_status start_worker_again(struct recording *rec)
{
	enum exit_status status;

	rec->epoch++;
	status = recording_take_step(rec, STEP_WORKER);
	if (status != EXIT_DONE)
		return status;
	status = spawn_worker(rec);
	if (status != EXIT_DONE)
		return status;
	return equip_children(rec);
}

void replace_flush(struct recording *rec)
{
	struct child *exporter = &rec->monitor.children[ROLE_EXPORTER];

	if (!export_has_server(&rec->options->export) || exporter->channel.fd < 0)
		return;
	release(rec, ROLE_WORKER, ROLE_WORKER);
	if (channel_send_bare(&exporter->channel, MESSAGE_FINISH, -1) == 0)
		monitor_await_end(&rec->monitor, exporter, FLUSH_MS);
}

/*
 * Distrusts everything that the ended worker had a hand in. The worker's peers are new as well, and
 * the new worker finds its rings and tables by the epoch alone. Meanwhile no event is enabled and
 * no thread that leaves its CPU is drawn, so no walk of an earlier epoch is left.
 */
static enum exit_status replace_worker(struct recording *rec, const struct replace_plan *plan)
{
	const uint64_t ended = rec->monitor.children[ROLE_WORKER].deaths[0];
	enum exit_status status;

	release(rec, ROLE_WORKER, ROLE_WORKER);
	release(rec, ROLE_BROKER, CHILD_PENAL);
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
static enum exit_status let_run(struct recording *rec, int child, int r)
{
	rec->monitor.children[child].channel.phase = PHASE_RUN;
	if (r && r != -EPIPE)
		return failed("start", monitor_name(child), r);
	return EXIT_DONE;
}

/* Makes the ordinary broker the penal one, and the other way round. */
static void swap_brokers(struct recording *rec)
{
	struct child *ordinary = &rec->monitor.children[ROLE_BROKER];
	struct child *penal = &rec->monitor.children[CHILD_PENAL];
	const struct child first = *ordinary;

	*ordinary = *penal;
	*penal = first;
	memcpy(ordinary->deaths, penal->deaths, sizeof(ordinary->deaths));
}

/*
 * Equips the broker that was spawned in the place, where a demotion moves it from. Until the worker
 * knows of another broker, the hung one stays the ordinary one. Returns 0 or a negative errno.
 */
static int equip_in(struct recording *rec, enum broker_lane lane, enum policy_role *place)
{
	const uint32_t known = rec->monitor.brokers;
	int r;

	if (lane != LANE_DEMOTING)
		return equip_broker(rec, lane);
	swap_brokers(rec);
	r = equip_broker(rec, lane);
	if (rec->monitor.brokers == known)
		swap_brokers(rec);
	else
		*place = ROLE_BROKER;
	return r;
}

/*
 * Spawns a broker in the place. Afterwards every message of the earlier brokers has been handled: a
 * broker tells of each segment before the worker has it. The spawner kills the earlier child, whose
 * channel stays open until then.
 */
static enum equip_result spawn_broker(struct recording *rec, enum policy_role place)
{
	struct child *child = &rec->monitor.children[place];
	struct child earlier = {.channel = child->channel};
	enum equip_result result;
	int r;

	child->channel.fd = -1;
	result = spawn_again(rec, place, place);
	r = monitor_drain(&rec->monitor, &earlier);
	channel_release(&earlier.channel);
	for (int i = ROLE_BROKER; i < CHILDREN && r == 0; i++)
		if (i != (int)place)
			r = monitor_drain(&rec->monitor, &rec->monitor.children[i]);
	if (r)
		return EQUIP_REFUSED;
	return result;
}

/*
 * Starts a broker for the lane. Fails for a refused broker. A recording goes on without a broker:
 * the worker complains again.
 */
static enum exit_status start_broker(struct recording *rec, enum broker_lane lane)
{
	enum policy_role place = (enum policy_role)monitor_child_of(lane);
	enum equip_result result;

	if (lane == LANE_DEMOTING)
		place = CHILD_PENAL;
	result = spawn_broker(rec, place);
	if (result == EQUIP_REFUSED)
		return EXIT_FAILED;
	if (result == EQUIP_READY) {
		int r = equip_in(rec, lane, &place);

		if (let_run(rec, (int)place, r) == EXIT_DONE)
			return EXIT_DONE;
	}
	log_warning("broker: keyhole-broker: not replaced yet; some new files are not read");
	release(rec, place, place);
	return EXIT_DONE;
}

static enum exit_status replace_broker(struct recording *rec, const struct replace_plan *plan)
{
	(void)plan;
	return start_broker(rec, LANE_ORDINARY);
}

/* The worker asks for another one when the worker has a request for it. */
static enum exit_status replace_penal(struct recording *rec, const struct replace_plan *plan)
{
	(void)plan;
	if (monitor_drain(&rec->monitor, &rec->monitor.children[CHILD_PENAL]))
		return EXIT_FAILED;
	release(rec, CHILD_PENAL, CHILD_PENAL);
	return EXIT_DONE;
}

static bool is_present(const struct recording *rec, int child)
{
	return rec->monitor.children[child].channel.fd >= 0;
}

/* Ends a hung broker, whose successor's start kills it. That a penal one hangs is no news. */
static void give_up_broker(struct recording *rec, int child)
{
	static const char *const text =
		"monitor: keyhole-broker: no valid answer in time, given up";

	if (!is_present(rec, child))
		return;
	if (child == CHILD_PENAL)
		log_info("%s", text);
	else
		log_warning("%s", text);
	monitor_audit(&rec->monitor, AUDIT_kill, PARTY_BROKER, KILL_HANGS, 0);
}

/*
 * Gives the lane another broker, as far as the budget goes. The first broker that hangs stays, as
 * the penal one: its target may be slow and nothing else.
 */
static enum exit_status replace_hung(struct recording *rec, enum broker_lane lane)
{
	struct starts *starts = &rec->starts[lane];
	const bool was_denied = starts->is_denied;

	if (!starts_take(starts, lane, time_now())) {
		if (!was_denied && lane == LANE_PENAL)
			log_info("broker: keyhole-broker: those that hang it wait for another one");
		else if (!was_denied)
			log_warning("broker: too many hang; new files are read later");
		return EXIT_DONE;
	}
	if (lane == LANE_ORDINARY && is_present(rec, ROLE_BROKER) && !is_present(rec, CHILD_PENAL))
		return start_broker(rec, LANE_DEMOTING);
	give_up_broker(rec, monitor_child_of(lane));
	return start_broker(rec, lane);
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
	bool dispensable; /* the profile so far can be written without such a child */
} places[] = {
	[ROLE_WORKER] = {replace_worker, false},
	[ROLE_EXPORTER] = {replace_exporter, false},
	[ROLE_BROKER] = {replace_broker, true},
	[CHILD_PENAL] = {replace_penal, true},
};
_Static_assert(sizeof(places) / sizeof(places[0]) == CHILDREN, "a row a child");

struct replace_plan replace_decide(const struct child *child)
{
	return plans[count_recent(child->deaths)];
}

/* Says that the role's child died too often. */
static enum monitor_result give_up(struct recording *rec, int child)
{
	log_error("record: %s: ended %d times within %d minutes; the recording ends",
		  monitor_name(child), DEATHS_MAX, MINUTES);
	rec->status = EXIT_FAILED;
	release(rec, (enum policy_role)child, (enum policy_role)child);
	if (places[child].dispensable)
		return MONITOR_GAVE_UP;
	return MONITOR_FAILED;
}

/* The deaths of both brokers count together. */
static struct child *count_death(struct recording *rec, int child)
{
	struct child *role = &rec->monitor.children[child];

	if (child == CHILD_PENAL)
		role = &rec->monitor.children[ROLE_BROKER];
	memmove(role->deaths + 1, role->deaths, sizeof(role->deaths) - sizeof(role->deaths[0]));
	role->deaths[0] = time_now();
	return role;
}

static enum monitor_result replace_dead(struct recording *rec, int child)
{
	const struct replace_plan plan = replace_decide(count_death(rec, child));
	const bool sampling = rec->monitor.goal == GOAL_STOP;
	int r = 0;

	if (plan.what == REPLACE_END)
		return give_up(rec, child);
	if (places[child].replace(rec, &plan) != EXIT_DONE)
		return MONITOR_FAILED;
	if (sampling)
		r = events_enable(&rec->events);
	if (r) {
		failed("record", "start of sampling", r);
		return MONITOR_FAILED;
	}
	off_cpu_rest(&rec->programs.off_cpu, rec->chance.resting);
	return MONITOR_RUNNING;
}

/* A broker hangs because a target does: its loss is no death, and sampling goes on. */
static enum monitor_result replace(struct recording *rec, int child, enum child_end end)
{
	if (end != CHILD_HANGS)
		return replace_dead(rec, child);
	if (replace_hung(rec, rec->monitor.stuck) != EXIT_DONE)
		return MONITOR_FAILED;
	return MONITOR_RUNNING;
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
		return replace(rec, verdict.child, verdict.end);
	case FATE_WITHOUT:
		release(rec, (enum policy_role)verdict.child, (enum policy_role)verdict.child);
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
/*
 * No draw begins any more. To disable its event interrupts each CPU, which waits for a stack that
 * is taken there with interrupts off.
 */
static enum monitor_result on_end(struct recording *rec)
{
	off_cpu_rest(&rec->programs.off_cpu, true);
	events_disable(&rec->events);
	return carry_out(rec, monitor_explain(&rec->monitor));
}

/* Sampling goes on meanwhile. */
static enum monitor_result on_hang(struct recording *rec)
{
	rec->monitor.hangs++;
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/target/lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "worker/target/broker.h"
#include "worker/target/penalty.h"

struct lanes {
	struct target target; /* first: a target is its lanes */
	struct lanes_parts parts;
	struct broker *queues[LANES];
	uint64_t complained[LANES]; /* times of the last complaints, 0: none */
	uint64_t gaps[LANES];	    /* ns, until the next ones about the same brokers */
	uint32_t brokers;	    /* that the loader has sent so far */
	uint64_t own;		    /* ns, of own work while the broker had a request */
	struct penalties penalties;
};

static bool is_slow(const struct target *target, const struct target_process *process)
{
	const struct lanes *lanes = (const struct lanes *)target;

	return target->slowed > 0 &&
	       penalty_holds(&lanes->penalties, process, lanes->parts.clock());
}

/* A segment is nobody's. */
static bool waits_apart(void *context, const struct target_request *request)
{
	const struct lanes *lanes = context;

	return request->kind != TARGET_SEGMENT && is_slow(&lanes->target, &request->process);
}

static void count_waiting(struct lanes *lanes)
{
	lanes->target.waiting = broker_waiting(lanes->queues[LANE_PENAL]);
}

static int ask(struct target *target, const struct target_request *request)
{
	struct lanes *lanes = (struct lanes *)target;
	enum broker_lane lane = LANE_ORDINARY;
	int r;

	if (waits_apart(lanes, request))
		lane = LANE_PENAL;
	r = broker_ask(lanes->queues[lane], request);
	count_waiting(lanes);
	return r;
}

static void charge(void *context);

struct lanes *lanes_new(const struct lanes_parts *parts, int fd)
{
	struct lanes *lanes = calloc(1, sizeof(*lanes));

	if (!lanes) {
		close(fd);
		return NULL;
	}
	lanes->target = (struct target){.ask = ask, .is_slow = is_slow};
	lanes->parts = *parts;
	lanes->queues[LANE_ORDINARY] = broker_new(BROKER_QUEUE_MAX, parts->clock);
	lanes->queues[LANE_PENAL] = broker_new(LANES_PENAL_MAX, parts->clock);
	if (!lanes->queues[LANE_ORDINARY] || !lanes->queues[LANE_PENAL]) {
		close(fd);
		lanes_free(lanes);
		return NULL;
	}
	broker_watch(lanes->queues[LANE_ORDINARY], charge, lanes);
	lanes_replace(lanes, LANE_ORDINARY, fd);
	return lanes;
}

void lanes_free(struct lanes *lanes)
{
	if (!lanes)
		return;
	for (int lane = 0; lane < LANES; lane++)
		broker_free(lanes->queues[lane]);
	free(lanes);
}

struct target *lanes_target(struct lanes *lanes)
{
	return &lanes->target;
}

int lanes_fd(const struct lanes *lanes, enum broker_lane lane)
{
	if (broker_is_gone(lanes->queues[lane]))
		return -1;
	return broker_fd(lanes->queues[lane]);
}

int lanes_receive(struct lanes *lanes, enum broker_lane lane)
{
	int r = broker_receive(lanes->queues[lane]);

	count_waiting(lanes);
	return r;
}

/* ---- hangs ---- */

static uint64_t deadline_of(enum broker_lane lane, const struct target_request *request)
{
	if (lane == LANE_PENAL || request->kind == TARGET_SEGMENT)
		return LANES_PENAL_DEADLINE;
	return LANES_DEADLINE;
}

/* Returns when the lane's broker is to be complained about; UINT64_MAX: there is no reason. */
static uint64_t complaint_due(const struct lanes *lanes, enum broker_lane lane)
{
	const struct broker *queue = lanes->queues[lane];
	const struct target_request *request = broker_under_way(queue);

	if (broker_is_gone(queue) && broker_waiting(queue) > 0)
		return lanes->complained[lane] + lanes->gaps[lane];
	if (!request)
		return UINT64_MAX;
	if (lanes->complained[lane] >= broker_asked_at(queue))
		return lanes->complained[lane] + lanes->gaps[lane];
	return broker_asked_at(queue) + deadline_of(lane, request);
}

/* The loader may be slow too: so the gaps grow. */
static void note_complaint(struct lanes *lanes, enum broker_lane lane, uint64_t now)
{
	lanes->complained[lane] = now;
	lanes->gaps[lane] *= 2;
	if (lanes->gaps[lane] == 0)
		lanes->gaps[lane] = LANES_GAP_FIRST;
	if (lanes->gaps[lane] > LANES_GAP_MAX)
		lanes->gaps[lane] = LANES_GAP_MAX;
}

/*
 * Penalizes the group whose request is under way; its other requests wait apart as well. Returns
 * whether that is new.
 */
static bool blame(struct lanes *lanes, enum broker_lane lane, uint64_t now)
{
	const struct broker *queue = lanes->queues[lane];
	const struct target_request *request = broker_under_way(queue);

	if (!request || request->kind == TARGET_SEGMENT)
		return false;
	if (!penalty_add(&lanes->penalties, &request->process, now))
		return false;
	lanes->target.slowed++;
	lanes->parts.blame(lanes->parts.context, &request->process, now - broker_asked_at(queue));
	broker_move(lanes->queues[LANE_PENAL], lanes->queues[LANE_ORDINARY], waits_apart, lanes);
	count_waiting(lanes);
	return true;
}

static bool is_of_others(const struct target_request *under_way,
			 const struct target_request *request)
{
	return request->kind == TARGET_SEGMENT ||
	       !penalty_is_shared(&under_way->process, &request->process);
}

/*
 * Charges the group that an answer of the ordinary broker is for, if others waited for it. A group
 * whose answers are late, but never overdue, takes the lane from the others all the same.
 */
static void charge(void *context)
{
	struct lanes *lanes = context;
	const struct broker *queue = lanes->queues[LANE_ORDINARY];
	const struct target_request *request = broker_under_way(queue);
	const uint64_t now = lanes->parts.clock(), own = lanes->own;
	const uint64_t spent = now - broker_asked_at(queue);

	lanes->own = 0;
	if (spent < own + LANES_SWIFT || request->kind == TARGET_SEGMENT)
		return;
	if (!broker_delays(queue, is_of_others))
		return;
	if (penalty_charge(&lanes->penalties, &request->process, spent - own, now))
		blame(lanes, LANE_ORDINARY, now);
}

void lanes_spend(struct lanes *lanes, uint64_t nanoseconds)
{
	const struct broker *queue = lanes->queues[LANE_ORDINARY];
	uint64_t asked;

	if (!broker_under_way(queue))
		return;
	/* the request may have been sent in the middle of that work */
	asked = lanes->parts.clock() - broker_asked_at(queue);
	lanes->own += asked < nanoseconds ? asked : nanoseconds;
}

static void watch(struct lanes *lanes, enum broker_lane lane, uint64_t now)
{
	const struct message_stuck stuck = {.lane = lane, .brokers = lanes->brokers};

	if (now < complaint_due(lanes, lane))
		return;
	/* the ordinary one may become the penal one */
	if (blame(lanes, lane, now) && broker_is_gone(lanes->queues[LANE_PENAL]))
		note_complaint(lanes, LANE_PENAL, now);
	note_complaint(lanes, lane, now);
	broker_give_up(lanes->queues[lane]);
	lanes->parts.complain(lanes->parts.context, &stuck);
}

void lanes_turn(struct lanes *lanes)
{
	const uint64_t now = lanes->parts.clock();

	for (int lane = 0; lane < LANES; lane++) {
		broker_turn(lanes->queues[lane]);
		watch(lanes, (enum broker_lane)lane, now);
	}
}

uint64_t lanes_wait(const struct lanes *lanes)
{
	const uint64_t now = lanes->parts.clock();
	uint64_t due = UINT64_MAX;

	for (int lane = 0; lane < LANES; lane++) {
		uint64_t next = complaint_due(lanes, (enum broker_lane)lane);

		if (next < due)
			due = next;
	}
	if (due == UINT64_MAX)
		return due;
	if (due <= now)
		return 0;
	return due - now;
}

/* ---- other brokers ---- */

/*
 * Takes back the request that is under way with a broker that was given up. A broker that ended by
 * itself may have ended because of the request, which is not repeated then.
 */
static bool take_back(struct lanes *lanes, enum broker_lane lane,
		      struct target_request *ret_request)
{
	return broker_is_given_up(lanes->queues[lane]) &&
	       broker_take(lanes->queues[lane], ret_request);
}

/* Repeats a request behind all others of its lane, or lets it fail. */
static void repeat(struct lanes *lanes, struct target_request *request)
{
	struct target_reply reply = {.error = -ETIMEDOUT, .fd = -1};

	request->losses++;
	if (request->losses >= LANES_LOSSES_MAX || ask(&lanes->target, request) < 0)
		request->done(request->context, request->key, &reply);
}

static void replace(struct lanes *lanes, enum broker_lane lane, int fd)
{
	struct target_request request;
	const bool taken = take_back(lanes, lane, &request);

	broker_replace(lanes->queues[lane], fd);
	lanes->complained[lane] = lanes->gaps[lane] = 0;
	if (taken)
		repeat(lanes, &request);
}

/* Makes the ordinary broker the penal one, whose request may still get its answer. */
static void demote(struct lanes *lanes)
{
	struct target_request request;
	const bool taken = take_back(lanes, LANE_PENAL, &request);

	broker_adopt(lanes->queues[LANE_PENAL], lanes->queues[LANE_ORDINARY]);
	lanes->complained[LANE_PENAL] = lanes->complained[LANE_ORDINARY];
	lanes->gaps[LANE_PENAL] = LANES_PENAL_DEADLINE;
	if (taken)
		repeat(lanes, &request);
}

void lanes_replace(struct lanes *lanes, enum broker_lane lane, int fd)
{
	lanes->brokers++;
	if (lane == LANE_DEMOTING) {
		demote(lanes);
		lane = LANE_ORDINARY;
	}
	replace(lanes, lane, fd);
	count_waiting(lanes);
}

/* ---- figures ---- */

uint64_t lanes_refused(const struct lanes *lanes)
{
	return broker_refused(lanes->queues[LANE_ORDINARY]) +
	       broker_refused(lanes->queues[LANE_PENAL]);
}

uint64_t lanes_asked(const struct lanes *lanes, enum target_kind kind)
{
	return broker_asked(lanes->queues[LANE_ORDINARY], kind) +
	       broker_asked(lanes->queues[LANE_PENAL], kind);
}

uint64_t lanes_refusals(const struct lanes *lanes, enum work_refusal reason)
{
	return broker_refusals(lanes->queues[LANE_ORDINARY], reason) +
	       broker_refusals(lanes->queues[LANE_PENAL], reason);
}

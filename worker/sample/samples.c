/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sample/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/redact.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/process.h"
#include "worker/process/tracker.h"
#include "profile/profile.h"
#include "worker/sample/comm.h"
#include "worker/kernel/kernel_symbols.h"

_Static_assert(RECORD_KERNEL_FRAMES_MAX + RECORD_FRAMES_MAX + 2 <= PROFILE_STACK_MAX,
	       "a record and its markers fit a stack");

struct held {
	uint64_t bytes;		       /* with the frames */
	uint64_t turn, since, answers; /* answers: what had come when it was last looked at */
	struct record head;
	u64 frame[];
};

struct samples {
	struct samples_parts parts;
	struct samples_counts counts;
	unsigned char *buffer; /* struct held, one after another */
	size_t used, capacity, records;
	uint32_t kernel_object[SAMPLES_KERNEL_RANGES];
	uint32_t unknown_object;
	uint32_t kernel_cut, cut[REASON_COUNT]; /* locations */
	uint32_t stack[PROFILE_STACK_MAX];
	size_t depth;
};

/* What a look at a record's addresses found. */
struct attempt {
	bool wait;    /* an object is being identified */
	bool unknown; /* an address in no mapping */
	bool failed;  /* no memory */
};

/* What makes records go before their answers are there. */
enum hurry {
	HURRY_NOT, /* but for those that have waited for too long */
	HURRY_ROOM,
	HURRY_END,
};

struct samples *samples_new(const struct samples_parts *parts)
{
	struct samples *samples = calloc(1, sizeof(*samples));

	if (samples)
		samples->parts = *parts;
	return samples;
}

void samples_free(struct samples *samples)
{
	if (!samples)
		return;
	free(samples->buffer);
	free(samples);
}

/* ---- locations ---- */

static uint32_t add_object(struct samples *samples, const char *name, enum profile_kind kind)
{
	struct profile_object object = {.kind = kind};

	object.name = profile_string(samples->parts.profile, name);
	if (object.name == PROFILE_FAILED)
		return 0;
	return profile_object_add(samples->parts.profile, &object);
}

static void push(struct samples *samples, uint32_t location, struct attempt *attempt)
{
	if (location == 0 || location == PROFILE_FAILED)
		attempt->failed = true;
	else if (samples->depth < PROFILE_STACK_MAX)
		samples->stack[samples->depth++] = location;
}

static void push_address(struct samples *samples, uint32_t *object, const char *name,
			 enum profile_kind kind, uint64_t address, struct attempt *attempt)
{
	if (*object == 0)
		*object = add_object(samples, name, kind);
	if (*object == 0 || *object == PROFILE_FAILED) {
		*object = 0;
		attempt->failed = true;
		return;
	}
	push(samples, profile_location_add(samples->parts.profile, *object, address), attempt);
}

/* A location that is its own name: an object for each, so that names cannot be mistaken. */
static void push_marker(struct samples *samples, uint32_t *location, const char *name,
			struct attempt *attempt)
{
	uint32_t object = 0;

	if (*location != 0) {
		push(samples, *location, attempt);
		return;
	}
	push_address(samples, &object, name, KIND_MARKER, 0, attempt);
	if (!attempt->failed)
		*location = samples->stack[samples->depth - 1];
}

static void push_unknown(struct samples *samples, struct attempt *attempt)
{
	push_address(samples, &samples->unknown_object, "[unknown]", KIND_MARKER, 0, attempt);
}

/* False: its name was not told, or not kept. */
static bool push_late(struct samples *samples, u64 frame, struct attempt *attempt)
{
	const struct late_names *names = samples->parts.late_names;
	uint32_t module = 0;
	int place = names ? late_names_find(names, KERNEL_FRAME_OFFSET(frame), &module) : -1;

	if (place < 0)
		return false;
	push_address(samples, &samples->kernel_object[SAMPLES_LATE + module],
		     late_names_module(names, module), KIND_KERNEL, (uint64_t)place, attempt);
	return true;
}

static void push_kernel(struct samples *samples, u64 frame, bool leaf, struct attempt *attempt)
{
	uint32_t range = KERNEL_FRAME_RANGE(frame), offset = KERNEL_FRAME_OFFSET(frame);
	const char *name = "[kernel]";

	if (range == KERNEL_RANGE_NAMED) {
		if (push_late(samples, frame, attempt))
			return;
		offset = 0;
	}
	if (range < KERNEL_RANGES_MAX && samples->parts.symbols)
		name = kernel_symbols_range(samples->parts.symbols, range);
	if (range >= KERNEL_RANGES_MAX || !name) {
		range = KERNEL_RANGES_MAX;
		name = "[kernel unknown]";
		samples->counts.kernel_unknown++;
	}
	push_address(samples, &samples->kernel_object[range], name, KIND_KERNEL,
		     leaf || offset == 0 ? offset : offset - 1, attempt);
}

/* The byte of the instruction a frame is at; a return address may be another function's first. */
static uint64_t frame_pc(u64 frame)
{
	return FRAME_ADDRESS(frame) - (frame & FRAME_EXACT ? 0 : 1);
}

static const struct mapping *frame_mapping(const struct process *process, const struct record *head,
					   u64 frame)
{
	return process ? mappings_find(process->mappings, frame_pc(frame), head->time) : NULL;
}

static void push_user(struct samples *samples, const struct process *process,
		      const struct record *head, u64 frame, struct attempt *attempt)
{
	const struct mapping *mapping = frame_mapping(process, head, frame);
	struct object *object = mapping ? mapping->object : NULL;
	uint64_t pc = frame_pc(frame);
	char text[REDACT_BYTES];

	if (!object) {
		push_unknown(samples, attempt);
		return;
	}
	if (object->sampled < head->time)
		object->sampled = head->time;
	push_address(samples, &object->profile_id,
		     redact_name(samples->parts.redact, REDACT_PATH, object->name, text),
		     KIND_NATIVE, object->anonymous ? pc : pc - mapping->start + mapping->offset,
		     attempt);
}

static void push_cut(struct samples *samples, unsigned int reason, struct attempt *attempt)
{
	const struct profile_reason *why = profile_reason(reason);
	char name[64];

	if (why->class != CLASS_CUT)
		return;
	snprintf(name, sizeof(name), "[cut: %s]",
		 strncmp(why->name, "cut_", 4) == 0 ? why->name + 4 : why->name);
	push_marker(samples, &samples->cut[reason], name, attempt);
}

/* ---- one record ---- */

static void look(const struct held *held, const struct process *process, struct attempt *attempt)
{
	const struct record *head = &held->head;

	for (unsigned int i = 0; i < head->user_frames; i++) {
		const struct mapping *mapping =
			frame_mapping(process, head, held->frame[head->kernel_frames + i]);

		attempt->wait |= mapping && !mapping->object;
		attempt->unknown |= !mapping;
	}
}

static void make_stack(struct samples *samples, const struct held *held,
		       const struct process *process, struct attempt *attempt)
{
	const struct record *head = &held->head;
	const u64 *user = held->frame + head->kernel_frames;

	samples->depth = 0;
	for (unsigned int i = 0; i < head->kernel_frames; i++)
		push_kernel(samples, held->frame[i], i == 0, attempt);
	if (head->flags & RECORD_FLAG_KERNEL_CUT)
		push_marker(samples, &samples->kernel_cut, "[cut: kernel stack]", attempt);
	samples->counts.kernel_cut += (head->flags & RECORD_FLAG_KERNEL_CUT) != 0;
	for (unsigned int i = 0; i < head->user_frames; i++)
		push_user(samples, process, head, user[i], attempt);
	push_cut(samples, head->reason, attempt);
}

static int add_sample(struct samples *samples, const struct record *head,
		      const struct process *process)
{
	struct profile *profile = samples->parts.profile;
	struct profile_sample sample = {
		.pid = head->pid,
		.tid = head->tid,
		.reason = head->reason,
		.cgroup = process ? process->cgroup : 0,
		.count = 1,
	};
	const struct redact *redact = samples->parts.redact;
	char name[ABI_COMM_BYTES] = "", text[REDACT_BYTES];

	if (process)
		process_name(process, name);
	if (!name[0])
		memcpy(name, head->comm, sizeof(name));
	sample.process_name = profile_string(profile, redact_name(redact, REDACT_COMM, name, text));
	sample.thread_name = profile_string(
		profile, redact_name(redact, REDACT_THREAD, (const char *)head->comm, text));
	sample.stack = profile_stack_add(profile, samples->stack, samples->depth);
	if (sample.thread_name == PROFILE_FAILED || sample.process_name == PROFILE_FAILED ||
	    sample.stack == PROFILE_FAILED)
		return -1;
	return profile_sample_add_at(profile, &sample, head->time);
}

/* Asks for what would explain the record; true when it should wait for the answer. */
static bool ask(struct samples *samples, struct process *process, const struct record *head,
		const struct attempt *attempt, uint64_t now)
{
	struct tracker *tracker = samples->parts.tracker;
	bool wait = attempt->wait;

	if (!process)
		return false;
	process->tid = head->tid;
	/* Its first listing may have failed; without it, it will never be ready. */
	if (head->reason == REASON_cut_not_ready && !process_state_is_complete(process->state))
		wait |= tracker_unknown(tracker, process, now);
	if (head->user_frames == 0)
		return false;
	wait |= tracker_doubtful(tracker, process, now);
	if (attempt->unknown &&
	    (head->reason == REASON_cut_no_mapping || head->reason == REASON_cut_no_room))
		wait |= tracker_unknown(tracker, process, now);
	return wait;
}

static void count(struct samples *samples, const struct record *head, uint64_t by)
{
	samples->counts.reason[head->reason] += by;
	if (profile_reason(head->reason)->class == CLASS_CUT)
		samples->counts.cut += by;
	else
		samples->counts.complete += by;
}

/* What is not in the profile is not complete or cut either. */
static void fail(struct samples *samples, const struct record *head)
{
	samples->counts.failed++;
	count(samples, head, -1ull);
}

/* Names are asked for as the profile has them: of the process or of the thread. */
static bool is_filtered(const struct samples *samples, const struct record *head,
			const struct process *process)
{
	struct comm_filter *comm = samples->parts.comm;
	char name[ABI_COMM_BYTES] = "";

	if (!comm || comm_filter_matches(comm, (const char *)head->comm))
		return false;
	if (process)
		process_name(process, name);
	return !name[0] || !comm_filter_matches(comm, name);
}

static void filter(struct samples *samples, const struct record *head)
{
	samples->counts.filtered++;
	samples->counts.samples--;
	count(samples, head, -1ull);
}

/* What would have been waited for: an object, or a listing that may tell of an address. */
static bool unanswered(const struct process *process, const struct attempt *attempt)
{
	return attempt->wait ||
	       (attempt->unknown && process && process_state_is_asked(process->state));
}

/* False: it has to wait. In a hurry, what is not of an earlier turn lacks the side-band as well. */
static bool resolve(struct samples *samples, struct held *held, uint64_t turn, uint64_t now,
		    enum hurry hurry)
{
	const struct record *head = &held->head;
	uint64_t answers = tracker_answers(samples->parts.tracker);
	bool may_wait = hurry == HURRY_NOT && now < held->since + SAMPLES_HELD_FOR;
	struct attempt attempt = {0};
	struct process *process = NULL;

	if (may_wait && held->answers == answers)
		return false;
	held->answers = answers;
	if (head->generation != 0)
		process = tracker_process(samples->parts.tracker, head->pid, head->generation,
					  head->time, now);
	/* cut_exec: it has its new name, but not yet its new generation */
	if (process && head->pid == head->tid && head->reason != REASON_cut_exec)
		process_set_comm(process, (const char *)head->comm);
	look(held, process, &attempt);
	if (may_wait && ask(samples, process, head, &attempt, now))
		return false;
	if (is_filtered(samples, head, process)) {
		filter(samples, head);
		return true;
	}
	if (hurry == HURRY_ROOM)
		samples->counts.held += held->turn >= turn || unanswered(process, &attempt);
	else if (!may_wait)
		samples->counts.early += unanswered(process, &attempt);
	make_stack(samples, held, process, &attempt);
	if (attempt.failed || add_sample(samples, head, process) < 0)
		fail(samples, head);
	return true;
}

/* ---- all records ---- */

static void resolve_all(struct samples *samples, uint64_t turn, uint64_t now, enum hurry hurry)
{
	size_t kept = 0, records = 0, bytes;

	for (size_t at = 0; at < samples->used; at += bytes) {
		struct held *held = (struct held *)(samples->buffer + at);

		bytes = held->bytes;
		if ((hurry != HURRY_NOT || held->turn < turn) &&
		    resolve(samples, held, turn, now, hurry))
			continue;
		memmove(samples->buffer + kept, samples->buffer + at, bytes);
		kept += bytes;
		records++;
	}
	samples->used = kept;
	samples->records = records;
}

void samples_hold(struct samples *samples, const struct record *head, const u64 *frames,
		  uint64_t turn, uint64_t now)
{
	size_t frame_bytes = sizeof(u64) * ((size_t)head->kernel_frames + head->user_frames);
	size_t bytes = sizeof(struct held) + frame_bytes;
	struct held *held;

	samples->counts.samples++;
	count(samples, head, 1);
	if (samples->used + bytes > SAMPLES_HELD_MAX)
		resolve_all(samples, turn, now, HURRY_ROOM);
	if (ARRAY_RESERVE(samples->buffer, samples->capacity, samples->used + bytes) < 0) {
		fail(samples, head);
		return;
	}
	held = (struct held *)(samples->buffer + samples->used);
	*held = (struct held){
		.bytes = bytes, .turn = turn, .since = now, .answers = UINT64_MAX, .head = *head};
	memcpy(held->frame, frames, frame_bytes);
	samples->used += bytes;
	samples->records++;
}

void samples_resolve(struct samples *samples, uint64_t turn, uint64_t now)
{
	resolve_all(samples, turn, now, HURRY_NOT);
}

void samples_finish(struct samples *samples, uint64_t now)
{
	resolve_all(samples, UINT64_MAX, now, HURRY_END);
}

size_t samples_held(const struct samples *samples)
{
	return samples->records;
}

void samples_use(struct samples *samples, struct profile *profile)
{
	samples->parts.profile = profile;
	memset(samples->kernel_object, 0, sizeof(samples->kernel_object));
	memset(samples->cut, 0, sizeof(samples->cut));
	samples->unknown_object = samples->kernel_cut = 0;
}

uint32_t samples_kernel_object(const struct samples *samples, uint32_t range)
{
	return range < SAMPLES_KERNEL_RANGES ? samples->kernel_object[range] : 0;
}

uint32_t samples_unknown_object(const struct samples *samples)
{
	return samples->unknown_object;
}

void samples_counts(const struct samples *samples, struct samples_counts *ret_counts)
{
	*ret_counts = samples->counts;
}

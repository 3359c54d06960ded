/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope's own JSON ("file-format-schema"): a "sampled" profile for each thread, the one with
 * most samples first. Its samples are whole stacks, root first, in the order of time; neighbours
 * that are equal become one. Weights are CPU time, or how often an event happened. Functions are
 * frames, whether inlined or not.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "generated/version.h"
#include "ipc/messages.h"
#include "base/array.h"
#include "profile/format/format.h"
#include "profile/format/json.h"
#include "profile/format/output.h"
#include "profile/format/threads.h"
#include "profile/profile.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
	const struct profile *profile;
	const struct profile_times *times;
	struct output output;
	struct json json;
	struct format_threads threads;
	uint64_t own_frames; /* of lines without a function, written so far */
	uint64_t *frames;    /* indexes, of one location after another, each from outside in */
	size_t *first;	     /* by location: where its own begin; the next one's is their end */
	size_t frame_count, frame_capacity;
};

/* ---- frames ---- */

/* The source, where it is known, else the object. */
static void speedscope_frame(struct speedscope *speedscope, const char *name, uint32_t object_id,
			     uint32_t file, uint32_t line)
{
	const struct profile_object *object = profile_object_get(speedscope->profile, object_id);

	if (!file && object && object->kind != KIND_MARKER)
		file = object->name;
	json_object(&speedscope->json);
	json_key_string(&speedscope->json, "name", name[0] ? name : "[unknown]");
	if (file)
		json_key_string(&speedscope->json, "file",
				profile_string_get(speedscope->profile, file));
	if (line)
		json_key_number(&speedscope->json, "line", line);
	json_end(&speedscope->json);
}

/* Functions are the first frames, in their order, with the line where they begin. */
static void speedscope_functions(struct speedscope *speedscope)
{
	for (uint32_t id = 1; id <= profile_functions(speedscope->profile); id++) {
		const struct profile_function *function =
			profile_function_get(speedscope->profile, id);

		speedscope_frame(
			speedscope, profile_string_get(speedscope->profile, function->name),
			function->object, function->file, function->file ? function->line : 0);
	}
}

static void speedscope_line(struct speedscope *speedscope, uint32_t id,
			    const struct profile_line *line, bool inlined)
{
	const struct profile_location *at = profile_location_get(speedscope->profile, id);
	uint32_t function = format_line_function(speedscope->profile, line, inlined);
	char name[FORMAT_NAME_MAX];
	uint64_t *frame = &speedscope->frames[speedscope->frame_count++];

	if (function) {
		*frame = function - 1;
		return;
	}
	*frame = profile_functions(speedscope->profile) + speedscope->own_frames++;
	format_line_name(name, sizeof(name), speedscope->profile, id, line, inlined);
	speedscope_frame(speedscope, name, at->object, 0, 0);
}

static void speedscope_location(struct speedscope *speedscope, uint32_t id)
{
	struct profile_line lines[PROFILE_LINES_MAX];
	size_t count = profile_location_lines(speedscope->profile, id, lines);

	speedscope->first[id] = speedscope->frame_count;
	if (ARRAY_RESERVE(speedscope->frames, speedscope->frame_capacity,
			  speedscope->frame_count + count) < 0) {
		output_fail(&speedscope->output, -ENOMEM);
		count = 0;
	}
	for (size_t i = count; i-- > 0;)
		speedscope_line(speedscope, id, &lines[i], i + 1 < count);
	speedscope->first[id + 1] = speedscope->frame_count;
}

static void speedscope_frames(struct speedscope *speedscope)
{
	json_key_object(&speedscope->json, "shared");
	json_key_array(&speedscope->json, "frames");
	speedscope_functions(speedscope);
	for (uint32_t id = 1; id <= profile_locations(speedscope->profile); id++)
		speedscope_location(speedscope, id);
	json_end(&speedscope->json);
	json_end(&speedscope->json);
}

/* ---- threads ---- */

static uint32_t speedscope_stack_of(const struct speedscope *speedscope,
				    const struct format_moment *moment)
{
	size_t count;

	return profile_samples(speedscope->profile, &count)[moment->sample].stack;
}

/* A stack's frames from the root on. */
struct speedscope_walk {
	const uint32_t *stack;
	size_t left;	  /* locations */
	size_t next, end; /* frames of the last one */
};

static struct speedscope_walk speedscope_walk(const struct speedscope *speedscope, uint32_t stack)
{
	struct speedscope_walk walk = {0};

	walk.left = profile_stack_get(speedscope->profile, stack, &walk.stack);
	return walk;
}

/* False: there is no more. */
static bool speedscope_next(const struct speedscope *speedscope, struct speedscope_walk *walk,
			    uint64_t *ret_frame)
{
	while (walk->next == walk->end) {
		if (walk->left == 0)
			return false;
		walk->next = speedscope->first[walk->stack[--walk->left]];
		walk->end = speedscope->first[walk->stack[walk->left] + 1];
	}
	*ret_frame = speedscope->frames[walk->next++];
	return true;
}

/* Two addresses of one function are one frame. */
static bool speedscope_equal(const struct speedscope *speedscope, uint32_t a, uint32_t b)
{
	struct speedscope_walk a_walk = speedscope_walk(speedscope, a);
	struct speedscope_walk b_walk = speedscope_walk(speedscope, b);
	uint64_t a_frame = 0, b_frame = 0;
	bool more = a != b;

	while (more) {
		more = speedscope_next(speedscope, &a_walk, &a_frame);
		if (more != speedscope_next(speedscope, &b_walk, &b_frame) || a_frame != b_frame)
			return false;
	}
	return true;
}

/* How many moments from this one on look the same, and what they weigh. */
static size_t speedscope_run(const struct speedscope *speedscope,
			     const struct format_moment *moments, size_t left, uint64_t *ret_weight)
{
	uint32_t stack = speedscope_stack_of(speedscope, moments);
	size_t length = 0;

	*ret_weight = 0;
	do {
		*ret_weight += format_moment_weight(&speedscope->threads, &moments[length++]);
	} while (length < left &&
		 speedscope_equal(speedscope, stack,
				  speedscope_stack_of(speedscope, &moments[length])));
	return length;
}

static void speedscope_stack(struct speedscope *speedscope, uint32_t stack)
{
	struct speedscope_walk walk = speedscope_walk(speedscope, stack);
	uint64_t frame;

	json_array(&speedscope->json);
	while (speedscope_next(speedscope, &walk, &frame))
		json_number(&speedscope->json, frame);
	json_end(&speedscope->json);
}

/* Samples and weights are two arrays, so this is done twice. */
static void speedscope_runs(struct speedscope *speedscope, const struct format_thread *thread,
			    bool weights)
{
	const struct format_moment *at = &speedscope->threads.moments[thread->first_moment];
	size_t left = thread->moments, length;
	uint64_t weight;

	for (; left > 0; left -= length, at += length) {
		length = speedscope_run(speedscope, at, left, &weight);
		if (weights)
			json_number(&speedscope->json, weight * speedscope->times->period);
		else
			speedscope_stack(speedscope, speedscope_stack_of(speedscope, at));
	}
}

static void speedscope_thread(struct speedscope *speedscope, const struct format_thread *thread)
{
	struct json *json = &speedscope->json;
	char process[256], name[256], text[600];

	format_clean_name(process, sizeof(process),
			  profile_string_get(speedscope->profile, thread->process_name));
	format_clean_name(name, sizeof(name),
			  profile_string_get(speedscope->profile, thread->thread_name));
	snprintf(text, sizeof(text), "%s (pid %" PRIu32 ") / %s (tid %" PRIu32 ")", process,
		 thread->pid, name, thread->tid);
	json_object(json);
	json_key_string(json, "type", "sampled");
	json_key_string(json, "name", text);
	json_key_string(json, "unit", speedscope->times->event ? "none" : "nanoseconds");
	json_key_number(json, "startValue", 0);
	json_key_number(json, "endValue", thread->count * speedscope->times->period);
	json_key_array(json, "samples");
	speedscope_runs(speedscope, thread, false);
	json_end(json);
	json_key_array(json, "weights");
	speedscope_runs(speedscope, thread, true);
	json_end(json);
	json_end(json);
}

static void speedscope_write(struct speedscope *speedscope)
{
	const char *event = speedscope->times->event;
	struct json *json = &speedscope->json;
	char name[96];

	snprintf(name, sizeof(name), "keyhole%s%s", event ? ": " : "", event ? event : "");
	json_object(json);
	json_key_string(json, "$schema", SCHEMA);
	json_key_string(json, "exporter", "keyhole@" KEYHOLE_VERSION);
	json_key_string(json, "name", name);
	json_key_number(json, "activeProfileIndex", 0);
	speedscope_frames(speedscope);
	json_key_array(json, "profiles");
	for (size_t i = 0; i < speedscope->threads.count; i++)
		speedscope_thread(speedscope, &speedscope->threads.threads[i]);
	json_end(json);
	json_end(json);
	json_finish(json);
}

static int speedscope_render(const struct profile *profile, const struct profile_times *times,
			     const struct format_options *options, int fd)
{
	struct speedscope speedscope = {.profile = profile, .times = times};
	int r = output_init(&speedscope.output, fd, false);

	(void)options; /* each thread is a profile, always */
	if (r < 0)
		return r;
	json_init(&speedscope.json, &speedscope.output);
	speedscope.first = calloc(profile_locations(profile) + 2u, sizeof(*speedscope.first));
	r = format_threads_init(&speedscope.threads, profile);
	if (r == 0)
		format_threads_by_count(&speedscope.threads);
	if (r == 0)
		r = format_threads_add_moments(&speedscope.threads, times);
	if (r == 0 && !speedscope.first)
		r = -ENOMEM;
	if (r == 0) {
		speedscope_write(&speedscope);
		r = output_finish(&speedscope.output);
	}
	format_threads_release(&speedscope.threads);
	free(speedscope.frames);
	free(speedscope.first);
	output_release(&speedscope.output);
	return r;
}

const struct format format_speedscope = {
	FORMAT_ROW(speedscope),
	.wants_times = true,
	.render = speedscope_render,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes speedscope's own JSON ("file-format-schema"): a "sampled" profile for each thread, the
 * thread with most samples first. Samples are whole stacks, root first, in the order of time;
 * equal neighbours become one sample. Weights are CPU time, or a number of events. Functions are
 * frames, whether inlined or not.
 *
 * A profile without times has its stacks in their own order, each once, and a title that says so.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generated/version.h"
#include "profile/format/format.h"
#include "profile/format/json.h"
#include "profile/format/lines.h"
#include "profile/format/names.h"
#include "profile/format/output.h"
#include "profile/format/threads.h"
#include "profile/profile.h"

#define SCHEMA		"https://www.speedscope.app/file-format-schema.json"
#define THREAD_NAME_MAX 256 /* bytes, with the NUL: NAME_MAX of Linux, as files name processes */

struct speedscope {
	const struct profile *profile;
	const struct profile_times *times;
	struct output output;
	struct json json;
	struct format_threads threads;
	uint32_t own_frames;	    /* of lines without a function, written so far */
	struct format_lines frames; /* numbers of frames, from 1 on */
};

/* ---- frames ---- */

/* Writes the source file where it is known, or else the object. */
static void put_frame(struct speedscope *speedscope, const char *raw, uint32_t object_id,
		      uint32_t file, uint32_t line)
{
	const struct profile_object *object = profile_object_get(speedscope->profile, object_id);

	if (!file && profile_object_is_file(object))
		file = object->name;
	json_object(&speedscope->json);
	json_key_string(&speedscope->json, "name", raw);
	if (file)
		json_key_string(&speedscope->json, "file",
				profile_string_get(speedscope->profile, file));
	if (line)
		json_key_number(&speedscope->json, "line", line);
	json_end(&speedscope->json);
}

/* Writes the functions as the first frames, in their order, with the line where each begins. */
static void put_functions(struct speedscope *speedscope)
{
	const struct profile *profile = speedscope->profile;

	for (uint32_t id = 1; id <= profile_functions(profile); id++) {
		const struct profile_function *function = profile_function_get(profile, id);

		put_frame(speedscope, format_function_name(profile, id), function->object,
			  function->file, format_first_line(function));
	}
}

/* Returns the number of the line's frame. A line without a function gets a frame of its own. */
static uint32_t add_line(void *context, const struct format_line *line)
{
	struct speedscope *speedscope = context;
	const struct profile *profile = speedscope->profile;
	const struct profile_location *at = profile_location_get(profile, line->location);
	uint32_t function = format_line_function(profile, line);
	char room[OFFSET_NAME_BYTES];

	if (function)
		return function;
	put_frame(speedscope, format_line_name(profile, line, room), at->object, 0, 0);
	return profile_functions(profile) + ++speedscope->own_frames;
}

static void put_frames(struct speedscope *speedscope)
{
	int r;

	json_key_object(&speedscope->json, "shared");
	json_key_array(&speedscope->json, "frames");
	put_functions(speedscope);
	r = format_lines_init(&speedscope->frames, speedscope->profile, add_line, speedscope);
	if (r < 0)
		output_fail(&speedscope->output, r);
	json_end(&speedscope->json);
	json_end(&speedscope->json);
}

/* ---- threads ---- */

static uint32_t stack_of(const struct speedscope *speedscope, const struct format_moment *moment)
{
	return profile_sample_get(speedscope->profile, moment->sample).stack;
}

/* Compares two stacks as frames: two addresses of one function are one frame. */
static bool look_equal(const struct speedscope *speedscope, uint32_t a, uint32_t b)
{
	return format_lines_compare(&speedscope->frames, a, b) == 0;
}

/* Returns how many moments, from the first one on, look the same, and the sum of their weights. */
static size_t count_run(const struct speedscope *speedscope, const struct format_moment *moments,
			size_t left, uint64_t *ret_weight)
{
	uint32_t stack = stack_of(speedscope, moments);
	size_t length = 0;

	*ret_weight = 0;
	do {
		*ret_weight += format_moment_weight(&speedscope->threads, &moments[length++]);
	} while (length < left &&
		 look_equal(speedscope, stack, stack_of(speedscope, &moments[length])));
	return length;
}

static void put_stack(struct speedscope *speedscope, uint32_t stack)
{
	struct format_walk walk = format_walk_begin(&speedscope->frames, stack);
	uint32_t frame;

	json_array(&speedscope->json);
	for (frame = format_walk_next(&walk); frame != 0; frame = format_walk_next(&walk))
		json_number(&speedscope->json, frame - 1); /* an index in shared.frames */
	json_end(&speedscope->json);
}

/* Writes the weights of the runs or their stacks: the two are arrays of their own. */
static void put_runs(struct speedscope *speedscope, const struct format_thread *thread,
		     bool weights)
{
	const struct format_moment *at = &speedscope->threads.moments[thread->first_moment];
	size_t left = thread->moments, length;
	uint64_t weight;

	for (; left > 0; left -= length, at += length) {
		length = count_run(speedscope, at, left, &weight);
		if (weights)
			json_number(&speedscope->json, weight * speedscope->times->period);
		else
			put_stack(speedscope, stack_of(speedscope, at));
	}
}

/* Cuts each of the two names, so that the title has both. */
static void put_thread_name(struct speedscope *speedscope, const struct format_thread *thread)
{
	char clean_process[THREAD_NAME_MAX], clean_thread[THREAD_NAME_MAX];
	char clean[2 * THREAD_NAME_MAX + 64];

	format_clean_name(clean_process, sizeof(clean_process),
			  format_process_name(speedscope->profile, thread->process_name));
	format_clean_name(clean_thread, sizeof(clean_thread),
			  profile_string_get(speedscope->profile, thread->thread_name));
	snprintf(clean, sizeof(clean), "%s (pid %" PRIu32 ") / %s (tid %" PRIu32 ")", clean_process,
		 thread->pid, clean_thread, thread->tid);
	json_key_clean_string(&speedscope->json, "name", clean);
}

/* Returns the file format's name for the unit of values. */
static const char *unit_of(const struct profile_times *times)
{
	static const char *const known[] = {"nanoseconds", "bytes"};
	const struct format_worth worth = format_worth(times);

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(worth.unit, known[i]))
			return known[i];
	return "none";
}

static void put_thread(struct speedscope *speedscope, const struct format_thread *thread)
{
	struct json *json = &speedscope->json;

	json_object(json);
	json_key_string(json, "type", "sampled");
	put_thread_name(speedscope, thread);
	json_key_string(json, "unit", unit_of(speedscope->times));
	json_key_number(json, "startValue", 0);
	json_key_number(json, "endValue", thread->count * speedscope->times->period);
	json_key_array(json, "samples");
	put_runs(speedscope, thread, false);
	json_end(json);
	json_key_array(json, "weights");
	put_runs(speedscope, thread, true);
	json_end(json);
	json_end(json);
}

#define NO_TIMES "(no times) "

/* Writes the title, which also says that the viewer's tab "Time Order" has no times to show. */
static void put_title(struct speedscope *speedscope)
{
	char title[FORMAT_TITLE_MAX + sizeof(NO_TIMES)] = NO_TIMES;
	size_t length = strlen(title);

	if (speedscope->threads.timed)
		length = 0;
	format_title(title + length, speedscope->times);
	json_key_string(&speedscope->json, "name", title);
}

/* Compares by stack: samples without a time have no other order. */
static int compare_stacks(const void *a, const void *b, void *context)
{
	const struct speedscope *speedscope = context;
	const uint32_t a_stack = stack_of(speedscope, a), b_stack = stack_of(speedscope, b);

	return format_lines_compare(&speedscope->frames, a_stack, b_stack);
}

/* Sorts the samples of a thread, so that a stack is one sample and neighbours share callers. */
static void sort_by_stack(struct speedscope *speedscope, const struct format_thread *thread)
{
	if (thread->moments)
		qsort_r(&speedscope->threads.moments[thread->first_moment], thread->moments,
			sizeof(*speedscope->threads.moments), compare_stacks, speedscope);
}

static void write_all(struct speedscope *speedscope)
{
	struct json *json = &speedscope->json;

	json_object(json);
	json_key_string(json, "$schema", SCHEMA);
	json_key_string(json, "exporter", "keyhole@" KEYHOLE_VERSION);
	put_title(speedscope);
	json_key_number(json, "activeProfileIndex", 0);
	put_frames(speedscope);
	json_key_array(json, "profiles");
	for (size_t i = 0; i < speedscope->threads.count; i++) {
		if (!speedscope->threads.timed)
			sort_by_stack(speedscope, &speedscope->threads.threads[i]);
		put_thread(speedscope, &speedscope->threads.threads[i]);
	}
	json_end(json);
	json_end(json);
	json_finish(json);
}

static int render(const struct profile *profile, const struct profile_times *times,
		  const struct format_options *options, int fd)
{
	struct speedscope speedscope = {.profile = profile, .times = times};
	int r = output_init(&speedscope.output, fd, false);

	(void)options; /* each thread is a profile, always */
	json_init(&speedscope.json, &speedscope.output);
	if (r == 0)
		r = format_threads_init(&speedscope.threads, profile);
	if (r == 0)
		r = format_threads_add_moments(&speedscope.threads, times);
	if (r == 0) {
		format_threads_by_count(&speedscope.threads);
		write_all(&speedscope);
		r = output_finish(&speedscope.output);
	}
	format_lines_release(&speedscope.frames);
	format_threads_release(&speedscope.threads);
	output_release(&speedscope.output);
	return r;
}

const struct format format_speedscope = {
	.wants_times = true,
	.render = render,
};

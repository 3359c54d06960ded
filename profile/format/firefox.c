/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Firefox Profiler's "processed" profile, version 70 of August 2026, which later viewers
 * upgrade. Tables are objects of columns. All threads share one table of stacks, the tree of all
 * stacks. A row of the table is a frame and the distance to the row of its parent above; 0: no
 * parent.
 *
 * A profile without times has all samples at 0, with weights, and no length.
 *
 * A sample means that its thread ran. A sample without a stack and weight shows a thread idle. The
 * idle sample comes a period before a sample that is more than two periods after the one before.
 * Where samples are CPU time, threadCPUDelta says how long the thread ran before a sample.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "generated/version.h"
#include "base/intern.h"
#include "ipc/time.h"
#include "profile/format/firefox.h"
#include "profile/format/format.h"
#include "profile/format/names.h"
#include "profile/profile.h"

#define PROCESSED_VERSION 70	    /* src/app-logic/constants.ts of the viewer, that month */
#define GECKO_VERSION	  36	    /* the same file */
#define MS_DIGITS	  6	    /* of ns in ms */
#define COUNTED_NS	  NS_PER_MS /* see interval(): Firefox's own profiler samples each ms */

/* Returns whether the values are CPU time, so that samples say how long a thread ran. */
static bool is_cpu_time(const struct firefox *firefox)
{
	return !firefox->times->event && !firefox->times->type;
}

/*
 * Returns the ns between two samples of a thread that runs. Samples of an event come with the event
 * and not with time: COUNTED_NS stands for their distance.
 */
static uint64_t interval(const struct firefox *firefox)
{
	if (is_cpu_time(firefox))
		return firefox->times->period;
	return COUNTED_NS;
}

/*
 * Makes all members but profile and times, which the caller has set. Returns 0 or -ENOMEM. The
 * caller tears down the struct either way.
 */
static int set_up(struct firefox *firefox, int fd)
{
	int r = output_init(&firefox->output, fd, false);

	if (r < 0)
		return r;
	r = format_threads_init(&firefox->threads, firefox->profile);
	if (r < 0)
		return r;
	r = format_threads_add_moments(&firefox->threads, firefox->times);
	if (r < 0)
		return r;
	firefox->strings = intern_new();
	firefox->sources = intern_new();
	if (!firefox->strings || !firefox->sources)
		return -ENOMEM;
	return firefox_stacks_init(firefox);
}

static void tear_down(struct firefox *firefox)
{
	firefox_stacks_release(firefox);
	intern_free(firefox->strings);
	intern_free(firefox->sources);
	format_threads_release(&firefox->threads);
	output_release(&firefox->output);
}

/* ---- threads ---- */

/* Describes the samples that show one moment: one, or two where the thread was idle before. */
struct shown {
	bool idle;     /* a sample without a stack comes a period before */
	uint64_t time; /* ns since the start of the recording */
	uint64_t weight;
	uint32_t node; /* id of the stack's leaf, 0: the stack is empty */
};

static void show(const struct firefox *firefox, const struct format_moment *moment, uint64_t before,
		 struct shown *ret_shown)
{
	const uint32_t stack = profile_sample_get(firefox->profile, moment->sample).stack;

	*ret_shown = (struct shown){
		.idle = firefox->threads.timed && moment->time - before > 2 * interval(firefox),
		.time = moment->time,
		.weight = format_moment_weight(&firefox->threads, moment),
		.node = firefox->stacks[stack],
	};
}

static void column_stack(struct firefox *firefox, const struct shown *shown)
{
	if (shown->idle)
		json_literal(&firefox->json, "null");
	if (shown->node)
		json_number(&firefox->json, shown->node - 1);
	else
		json_literal(&firefox->json, "null");
}

static void column_time(struct firefox *firefox, const struct shown *shown)
{
	if (shown->idle)
		json_decimal(&firefox->json, shown->time - interval(firefox), MS_DIGITS);
	json_decimal(&firefox->json, shown->time, MS_DIGITS);
}

/* Returns whether the weights are ns of a type that is not CPU time, which the file has in ms. */
static bool weights_are_time(const struct firefox *firefox)
{
	return firefox->times->type && !strcmp(firefox->times->unit, "nanoseconds");
}

/* Returns the viewer's name for the unit of weights: src/types/profile.js has three. */
static const char *weight_type(const struct firefox *firefox)
{
	if (weights_are_time(firefox))
		return "tracing-ms";
	if (firefox->times->type && !strcmp(firefox->times->unit, "bytes"))
		return "bytes";
	return "samples";
}

static void column_weight(struct firefox *firefox, const struct shown *shown)
{
	if (shown->idle)
		json_number(&firefox->json, 0);
	if (weights_are_time(firefox))
		json_decimal(&firefox->json, shown->weight, MS_DIGITS);
	else
		json_number(&firefox->json, shown->weight);
}

static void column_cpu(struct firefox *firefox, const struct shown *shown)
{
	if (shown->idle)
		json_number(&firefox->json, 0);
	json_number(&firefox->json, shown->weight * interval(firefox));
}

/* Writes a column of a thread's samples, and returns how many samples the column has. */
static uint64_t put_sample_column(struct firefox *firefox, const struct format_thread *thread,
				  const char *name,
				  void (*put)(struct firefox *firefox, const struct shown *shown))
{
	const struct format_moment *moments = &firefox->threads.moments[thread->first_moment];
	uint64_t before = 0, length = 0;
	struct shown shown;

	json_key_array(&firefox->json, name);
	for (size_t i = 0; i < thread->moments; i++) {
		show(firefox, &moments[i], before, &shown);
		put(firefox, &shown);
		length += 1u + shown.idle;
		before = shown.time;
	}
	json_end(&firefox->json);
	return length;
}

static void put_samples(struct firefox *firefox, const struct format_thread *thread)
{
	struct json *json = &firefox->json;
	uint64_t length;

	json_key_object(json, "samples");
	put_sample_column(firefox, thread, "stack", column_stack);
	put_sample_column(firefox, thread, "time", column_time);
	length = put_sample_column(firefox, thread, "weight", column_weight);
	json_key_string(json, "weightType", weight_type(firefox));
	if (firefox->threads.timed && is_cpu_time(firefox))
		put_sample_column(firefox, thread, "threadCPUDelta", column_cpu);
	json_key_number(json, "length", length);
	json_end(json);
}

/*
 * Writes a pid or tid. Viewers need a number for each owner: a later owner of the number gets a
 * suffix. A pid is unique in the file, and a tid is unique within its process.
 */
static void put_number(struct firefox *firefox, const char *key, uint32_t number, uint32_t again,
		       bool quoted)
{
	char text[48];

	if (again)
		snprintf(text, sizeof(text), "\"%" PRIu32 ".%" PRIu32 "\"", number, again);
	else
		snprintf(text, sizeof(text), quoted ? "\"%" PRIu32 "\"" : "%" PRIu32, number);
	json_key_literal(&firefox->json, key, text);
}

static void put_thread(struct firefox *firefox, size_t index)
{
	static const char *const markers[] = {"data",  "name",	   "startTime", "endTime",
					      "phase", "category", NULL};
	const struct format_thread *thread = &firefox->threads.threads[index];
	struct json *json = &firefox->json;

	json_object(json);
	json_key_string(json, "processType", "default");
	json_key_number(json, "processStartupTime", 0);
	json_key_literal(json, "processShutdownTime", "null");
	json_key_number(json, "registerTime", 0);
	json_key_literal(json, "unregisterTime", "null");
	firefox_column_of(firefox, "pausedRanges", 0, "");
	json_key_string(json, "name", profile_string_get(firefox->profile, thread->thread_name));
	json_key_literal(json, "isMainThread",
			 thread->pid == thread->tid && !thread->thread_again ? "true" : "false");
	json_key_string(json, "processName",
			format_process_name(firefox->profile, thread->process_name));
	put_number(firefox, "pid", thread->pid, thread->process_again, true);
	put_number(firefox, "tid", thread->tid, thread->thread_again, false);
	put_samples(firefox, thread);
	firefox_empty_table(firefox, "markers", markers);
	json_end(json);
}

static void put_threads(struct firefox *firefox)
{
	json_key_array(&firefox->json, "threads");
	for (size_t i = 0; i < firefox->threads.count; i++)
		put_thread(firefox, i);
	json_end(&firefox->json);
}

/* ---- meta ---- */

static void put_entry(struct firefox *firefox, const char *label, uint64_t value)
{
	json_object(&firefox->json);
	json_key_string(&firefox->json, "label", label);
	json_key_string(&firefox->json, "format", "integer");
	json_key_number(&firefox->json, "value", value);
	json_end(&firefox->json);
}

/* Returns how many samples have no time: all of them in a profile that was read from a file. */
static uint64_t without_time(const struct firefox *firefox, const struct format_totals *totals)
{
	return totals->samples - profile_moments(firefox->profile);
}

/* Writes the sums of a recording, or the one sum of values that are no samples. */
static void put_counts(struct firefox *firefox, const struct format_totals *totals)
{
	if (firefox->times->type) {
		put_entry(firefox, firefox->times->type, totals->samples);
		return;
	}
	put_entry(firefox, "Samples", totals->samples);
	if (firefox->times->event)
		put_entry(firefox, firefox->times->event, totals->samples * firefox->times->period);
	if (firefox->times->walked) {
		put_entry(firefox, "Complete stacks", totals->complete);
		put_entry(firefox, "Complete stacks (guessed)", totals->guessed);
		put_entry(firefox, "Cut stacks", totals->cut);
	}
	if (firefox->threads.timed)
		put_entry(firefox, "Without a time, at the end", without_time(firefox, totals));
	else
		put_entry(firefox, "Without a time, all at 0", totals->samples);
}

static void put_totals(struct firefox *firefox)
{
	struct format_totals totals;

	format_totals(firefox->profile, &totals);
	json_key_array(&firefox->json, "extra");
	json_object(&firefox->json);
	json_key_string(&firefox->json, "label", "keyhole " KEYHOLE_VERSION);
	json_key_array(&firefox->json, "entries");
	put_counts(firefox, &totals);
	json_end(&firefox->json);
	json_end(&firefox->json);
	json_end(&firefox->json);
}

/* Returns the index of the thread with most samples. There is at least one thread. */
static size_t hottest(const struct firefox *firefox)
{
	size_t best = 0;

	for (size_t i = 1; i < firefox->threads.count; i++) {
		if (firefox->threads.threads[i].count > firefox->threads.threads[best].count)
			best = i;
	}
	return best;
}

static void put_time(struct firefox *firefox, const char *key, uint64_t ns)
{
	json_key(&firefox->json, key);
	json_decimal(&firefox->json, ns, MS_DIGITS);
}

static void put_meta(struct firefox *firefox)
{
	struct json *json = &firefox->json;
	char title[FORMAT_TITLE_MAX];

	format_title(title, firefox->times);
	json_key_object(json, "meta");
	put_time(firefox, "interval", interval(firefox));
	put_time(firefox, "startTime", firefox->times->start_realtime_ns);
	if (firefox->threads.timed) {
		json_key_number(json, "profilingStartTime", 0);
		put_time(firefox, "profilingEndTime", firefox->times->duration_ns);
	}
	json_key_number(json, "processType", 0);
	firefox_put_categories(firefox);
	json_key_string(json, "product", "keyhole");
	json_key_number(json, "stackwalk", 1);
	json_key_literal(json, "debug", "false");
	json_key_number(json, "version", GECKO_VERSION);
	json_key_number(json, "preprocessedProfileVersion", PROCESSED_VERSION);
	json_key_literal(json, "symbolicated", "true");
	firefox_column_of(firefox, "markerSchema", 0, "");
	json_key_object(json, "sampleUnits");
	json_key_string(json, "time", "ms");
	json_key_string(json, "eventDelay", "ms");
	json_key_string(json, "threadCPUDelta", "ns");
	json_end(json);
	json_key_string(json, "importedFrom", title);
	json_key_literal(json, "usesOnlyOneStackType", "true");
	json_key_literal(json, "sourceCodeIsNotOnSearchfox", "true");
	if (firefox->threads.count > 0) {
		json_key_array(json, "initialSelectedThreads");
		json_number(json, hottest(firefox));
		json_end(json);
	}
	put_totals(firefox);
	json_end(json);
}

static int write_all(struct firefox *firefox)
{
	json_init(&firefox->json, &firefox->output);
	json_object(&firefox->json);
	put_meta(firefox);
	firefox_put_libs(firefox);
	firefox_put_shared(firefox);
	put_threads(firefox);
	json_end(&firefox->json);
	json_finish(&firefox->json);
	return output_finish(&firefox->output);
}

static int render(const struct profile *profile, const struct profile_times *times,
		  const struct format_options *options, int fd)
{
	struct firefox firefox = {.profile = profile, .times = times};
	int r = set_up(&firefox, fd);

	(void)options; /* each thread has its own line, always */
	if (r == 0)
		r = write_all(&firefox);
	tear_down(&firefox);
	return r;
}

const struct format format_firefox = {
	.wants_times = true,
	.render = render,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folded stacks, the input of flame graphs: a line for each distinct stack,
 *   process;[thread/tid;]root;...;leaf count
 * ordered by its frames from the root on, so that equal profiles give equal files. Frame names are
 * replaced by their ranks in order first: lines are compared and merged without being spelled out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/messages.h"
#include "base/array.h"
#include "base/compare.h"
#include "base/intern.h"
#include "profile/format/format.h"
#include "profile/format/output.h"
#include "profile/profile.h"

#define SUFFIX_BYTES 8

struct folded_line { /* texts by rank */
	uint32_t process, thread;
	uint32_t stack;
	uint64_t count;
};

struct folded {
	const struct profile *profile;
	const struct format_options *options;
	struct intern *texts;
	uint32_t *order;  /* ids of texts, sorted */
	uint32_t *ranks;  /* by id: its index in order */
	uint32_t *frames; /* ranks of texts, of one location after another, each from outside in */
	size_t *first;	  /* by location: where its frames begin; the next one's is their end */
	size_t frame_count, frame_capacity;
	struct folded_line *lines;
	size_t count;
};

static uint32_t folded_text(struct folded *folded, char *text)
{
	for (char *at = text; (at = strchr(at, ';'));)
		*at = ':';
	return intern_string(folded->texts, text[0] ? text : "[unknown]");
}

static bool location_is_kernel(const struct profile *profile, uint32_t id)
{
	const struct profile_location *location = profile_location_get(profile, id);
	const struct profile_object *object = profile_object_get(profile, location->object);

	return object && object->kind == KIND_KERNEL;
}

static int folded_frame(struct folded *folded, char *text, const char *suffix)
{
	uint32_t id;

	memcpy(text + strlen(text), suffix, strlen(suffix) + 1);
	id = folded_text(folded, text);
	if (id == INTERN_FAILED ||
	    ARRAY_RESERVE(folded->frames, folded->frame_capacity, folded->frame_count + 1) < 0)
		return -ENOMEM;
	folded->frames[folded->frame_count++] = id;
	return 0;
}

/* Kernel and inlined frames carry the suffixes by which flame graphs colour them. */
static int folded_location(struct folded *folded, uint32_t id)
{
	struct profile_line lines[PROFILE_LINES_MAX];
	size_t count = profile_location_lines(folded->profile, id, lines);
	const char *suffix = location_is_kernel(folded->profile, id) ? "_[k]" : "";
	char text[FORMAT_NAME_MAX + SUFFIX_BYTES];
	int r = 0;

	for (size_t i = count; i-- > 0 && r == 0; suffix = "_[i]") {
		format_line_name(text, FORMAT_NAME_MAX, folded->profile, id, &lines[i],
				 i + 1 < count);
		r = folded_frame(folded, text, suffix);
	}
	return r;
}

static int folded_frames(struct folded *folded)
{
	uint32_t count = profile_locations(folded->profile);
	int r = 0;

	folded->first = calloc(count + 2u, sizeof(*folded->first));
	if (!folded->first)
		return -ENOMEM;
	for (uint32_t id = 1; id <= count && r == 0; id++) {
		r = folded_location(folded, id);
		folded->first[id + 1] = folded->frame_count;
	}
	return r;
}

static int folded_line(struct folded *folded, const struct profile_sample *sample,
		       struct folded_line *ret_line)
{
	char name[FORMAT_NAME_MAX], text[FORMAT_NAME_MAX + 16];

	format_clean_name(name, sizeof(name),
			  profile_string_get(folded->profile, sample->process_name));
	*ret_line = (struct folded_line){.stack = sample->stack, .count = sample->count};
	ret_line->process = folded_text(folded, name);
	if (folded->options->by_thread) {
		format_clean_name(name, sizeof(name),
				  profile_string_get(folded->profile, sample->thread_name));
		snprintf(text, sizeof(text), "%s/%" PRIu32, name, sample->tid);
		ret_line->thread = folded_text(folded, text);
	}
	return ret_line->process == INTERN_FAILED || ret_line->thread == INTERN_FAILED ? -ENOMEM
										       : 0;
}

static int folded_lines(struct folded *folded)
{
	const struct profile_sample *samples = profile_samples(folded->profile, &folded->count);
	int r = 0;

	folded->lines = calloc(folded->count + 1, sizeof(*folded->lines));
	if (!folded->lines)
		return -ENOMEM;
	for (size_t i = 0; i < folded->count && r == 0; i++)
		r = folded_line(folded, &samples[i], &folded->lines[i]);
	return r;
}

static int compare_texts(const void *a, const void *b, void *context)
{
	const struct folded *folded = context;

	return strcmp(intern_get(folded->texts, *(const uint32_t *)a, NULL),
		      intern_get(folded->texts, *(const uint32_t *)b, NULL));
}

/* The empty text, id 0, has rank 0: it stands for "no thread". */
static int folded_rank(struct folded *folded)
{
	uint32_t count = intern_count(folded->texts);

	folded->order = calloc(count, sizeof(*folded->order));
	folded->ranks = calloc(count, sizeof(*folded->ranks));
	if (!folded->order || !folded->ranks)
		return -ENOMEM;
	for (uint32_t id = 0; id < count; id++)
		folded->order[id] = id;
	qsort_r(folded->order, count, sizeof(*folded->order), compare_texts, folded);
	for (uint32_t rank = 0; rank < count; rank++)
		folded->ranks[folded->order[rank]] = rank;
	for (size_t i = 0; i < folded->frame_count; i++)
		folded->frames[i] = folded->ranks[folded->frames[i]];
	for (size_t i = 0; i < folded->count; i++) {
		folded->lines[i].process = folded->ranks[folded->lines[i].process];
		folded->lines[i].thread = folded->ranks[folded->lines[i].thread];
	}
	return 0;
}

/* A stack's frames from the root on. */
struct folded_walk {
	const uint32_t *stack;
	size_t left;	  /* locations */
	size_t next, end; /* frames of the last one */
};

static struct folded_walk folded_walk(const struct folded *folded, uint32_t stack)
{
	struct folded_walk walk = {0};

	walk.left = profile_stack_get(folded->profile, stack, &walk.stack);
	return walk;
}

/* The next one's rank, 0: there is none. */
static uint32_t folded_next(const struct folded *folded, struct folded_walk *walk)
{
	if (walk->next == walk->end) {
		if (walk->left == 0)
			return 0;
		walk->next = folded->first[walk->stack[--walk->left]];
		walk->end = folded->first[walk->stack[walk->left] + 1];
	}
	return folded->frames[walk->next++];
}

static int compare_stacks(const struct folded *folded, uint32_t a, uint32_t b)
{
	struct folded_walk a_walk = folded_walk(folded, a), b_walk = folded_walk(folded, b);
	uint32_t a_rank, b_rank;

	if (a == b)
		return 0;
	do {
		a_rank = folded_next(folded, &a_walk);
		b_rank = folded_next(folded, &b_walk);
	} while (a_rank == b_rank && a_rank != 0);
	return compare_numbers(a_rank, b_rank);
}

static int compare_lines(const void *a, const void *b, void *context)
{
	const struct folded_line *a_line = a, *b_line = b;
	int order = compare_numbers(a_line->process, b_line->process);

	if (order == 0)
		order = compare_numbers(a_line->thread, b_line->thread);
	if (order == 0)
		order = compare_stacks(context, a_line->stack, b_line->stack);
	return order;
}

static void folded_put(const struct folded *folded, struct output *output, uint32_t rank)
{
	output_string(output, intern_get(folded->texts, folded->order[rank], NULL));
}

static void folded_write(const struct folded *folded, struct output *output,
			 const struct folded_line *line, uint64_t count)
{
	struct folded_walk walk = folded_walk(folded, line->stack);
	uint32_t rank;
	char number[32];

	folded_put(folded, output, line->process);
	if (line->thread) {
		output_string(output, ";");
		folded_put(folded, output, line->thread);
	}
	while ((rank = folded_next(folded, &walk)) != 0) {
		output_string(output, ";");
		folded_put(folded, output, rank);
	}
	snprintf(number, sizeof(number), " %" PRIu64 "\n", count);
	output_string(output, number);
}

static void folded_write_all(struct folded *folded, struct output *output)
{
	uint64_t count = 0;

	for (size_t i = 0; i < folded->count; i++) {
		count += folded->lines[i].count;
		if (i + 1 < folded->count &&
		    compare_lines(&folded->lines[i], &folded->lines[i + 1], folded) == 0)
			continue;
		folded_write(folded, output, &folded->lines[i], count);
		count = 0;
	}
}

static int folded_sort(struct folded *folded)
{
	int r = folded_frames(folded);

	if (r == 0)
		r = folded_lines(folded);
	if (r == 0)
		r = folded_rank(folded);
	if (r == 0)
		qsort_r(folded->lines, folded->count, sizeof(*folded->lines), compare_lines,
			folded);
	return r;
}

static int folded_render(const struct profile *profile, const struct profile_times *times,
			 const struct format_options *options, int fd)
{
	struct folded folded = {.profile = profile, .options = options};
	struct output output;
	int r;

	(void)times; /* counts of samples are all the format knows */
	r = output_init(&output, fd, false);
	if (r < 0)
		return r;
	folded.texts = intern_new();
	r = folded.texts ? folded_sort(&folded) : -ENOMEM;
	if (r == 0) {
		folded_write_all(&folded, &output);
		r = output_finish(&output);
	}
	output_release(&output);
	intern_free(folded.texts);
	free(folded.order);
	free(folded.ranks);
	free(folded.frames);
	free(folded.first);
	free(folded.lines);
	return r;
}

const struct format format_folded = {
	FORMAT_ROW(folded),
	.render = folded_render,
};

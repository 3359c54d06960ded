/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes folded stacks, the input of flame graphs. Each distinct stack has a line:
 *   process;[thread/tid;]root;...;leaf count
 * Times of threads are in microseconds, as other tools have them.
 * Lines are in the order of their frames from the root on, so that equal profiles give equal files.
 * Numbers stand for texts until the end: the ranks of their texts sort and merge the lines.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/intern.h"
#include "base/languages.h"
#include "ipc/time.h"
#include "profile/format/format.h"
#include "profile/format/lines.h"
#include "profile/format/names.h"
#include "profile/format/output.h"
#include "profile/profile.h"

#define SUFFIX_BYTES 8 /* room for suffix_of(), with its NUL */

struct folded_line {
	uint32_t process, thread; /* ids of texts, then their ranks; thread 0: none */
	uint32_t stack;
	uint64_t count;
};

struct folded {
	const struct profile *profile;
	const struct format_options *options;
	uint64_t unit;		    /* by which counts are divided */
	struct intern *texts;	    /* clean, without ';' */
	uint32_t *order;	    /* ids of texts, sorted */
	uint32_t *ranks;	    /* by id: its index in order */
	struct format_lines frames; /* ids of texts, then their ranks */
	struct folded_line *lines;
	size_t count;
};

/* Numbers a clean text, in which ':' takes the place of the separator ';'. */
static uint32_t add_clean_text(struct folded *folded, char *clean)
{
	for (char *at = strchr(clean, ';'); at; at = strchr(at, ';'))
		*at = ':';
	return intern_string(folded->texts, clean);
}

/* Frames carry the suffixes by which flame graphs colour them. */
static const char *suffix_of(const struct profile *profile, const struct format_line *line)
{
	const struct language *language = profile_location_language(profile, line->location);

	if (line->depth > 0)
		return "_[i]";
	if (language)
		return language->suffix;
	if (profile_location_kind(profile, line->location) == KIND_KERNEL)
		return "_[k]";
	return "";
}

static uint32_t add_frame(void *context, const struct format_line *line)
{
	struct folded *folded = context;
	const char *suffix = suffix_of(folded->profile, line);
	char room[OFFSET_NAME_BYTES], clean[FORMAT_NAME_MAX + SUFFIX_BYTES];

	format_clean_name(clean, FORMAT_NAME_MAX, format_line_name(folded->profile, line, room));
	memcpy(clean + strlen(clean), suffix, strlen(suffix) + 1);
	return add_clean_text(folded, clean);
}

static uint32_t add_process(struct folded *folded, const struct profile_sample *sample)
{
	char clean[FORMAT_NAME_MAX];

	format_clean_name(clean, sizeof(clean),
			  format_process_name(folded->profile, sample->process_name));
	return add_clean_text(folded, clean);
}

static uint32_t add_thread(struct folded *folded, const struct profile_sample *sample)
{
	char clean[FORMAT_THREAD_MAX];

	format_thread_name(clean, profile_string_get(folded->profile, sample->thread_name),
			   sample->tid);
	return add_clean_text(folded, clean);
}

static int make_line(struct folded *folded, const struct profile_sample *sample,
		     struct folded_line *ret_line)
{
	*ret_line = (struct folded_line){.stack = sample->stack, .count = sample->count};
	ret_line->process = add_process(folded, sample);
	if (folded->options->by_thread)
		ret_line->thread = add_thread(folded, sample);
	if (ret_line->process == INTERN_FAILED || ret_line->thread == INTERN_FAILED)
		return -ENOMEM;
	return 0;
}

static int make_lines(struct folded *folded)
{
	int r = 0;

	folded->count = profile_samples(folded->profile);
	folded->lines = calloc(folded->count + 1, sizeof(*folded->lines));
	if (!folded->lines)
		return -ENOMEM;
	for (size_t i = 0; i < folded->count && r == 0; i++) {
		const struct profile_sample sample = profile_sample_get(folded->profile, i);

		r = make_line(folded, &sample, &folded->lines[i]);
	}
	return r;
}

static int compare_texts(const void *a, const void *b, void *context)
{
	const struct folded *folded = context;

	return strcmp(intern_get(folded->texts, *(const uint32_t *)a, NULL),
		      intern_get(folded->texts, *(const uint32_t *)b, NULL));
}

/* Replaces ids of texts by ranks. The empty text, id 0, keeps 0: it stands for "no thread". */
static int rank_texts(struct folded *folded)
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
	for (size_t i = 0; i < folded->frames.count; i++)
		folded->frames.ids[i] = folded->ranks[folded->frames.ids[i]];
	for (size_t i = 0; i < folded->count; i++) {
		folded->lines[i].process = folded->ranks[folded->lines[i].process];
		folded->lines[i].thread = folded->ranks[folded->lines[i].thread];
	}
	return 0;
}

static int compare_lines(const void *a, const void *b, void *context)
{
	const struct folded *folded = context;
	const struct folded_line *a_line = a, *b_line = b;
	int order = compare_numbers(a_line->process, b_line->process);

	if (order == 0)
		order = compare_numbers(a_line->thread, b_line->thread);
	if (order == 0)
		order = format_lines_compare(&folded->frames, a_line->stack, b_line->stack);
	return order;
}

static void put_text(const struct folded *folded, struct output *output, uint32_t rank)
{
	output_string(output, intern_get(folded->texts, folded->order[rank], NULL));
}

static void write_line(const struct folded *folded, struct output *output,
		       const struct folded_line *line, uint64_t count)
{
	struct format_walk walk = format_walk_begin(&folded->frames, line->stack);
	uint32_t rank;
	char number[32];

	put_text(folded, output, line->process);
	if (line->thread) {
		output_string(output, ";");
		put_text(folded, output, line->thread);
	}
	for (rank = format_walk_next(&walk); rank != 0; rank = format_walk_next(&walk)) {
		output_string(output, ";");
		put_text(folded, output, rank);
	}
	snprintf(number, sizeof(number), " %" PRIu64 "\n", count);
	output_string(output, number);
}

static void write_lines(struct folded *folded, struct output *output)
{
	uint64_t count = 0;

	for (size_t i = 0; i < folded->count; i++) {
		count += folded->lines[i].count;
		if (i + 1 < folded->count &&
		    compare_lines(&folded->lines[i], &folded->lines[i + 1], folded) == 0)
			continue;
		if (count >= folded->unit)
			write_line(folded, output, &folded->lines[i], count / folded->unit);
		count = 0;
	}
}

static int sort_lines(struct folded *folded)
{
	int r = format_lines_init(&folded->frames, folded->profile, add_frame, folded);

	if (r == 0)
		r = make_lines(folded);
	if (r == 0)
		r = rank_texts(folded);
	if (r == 0)
		qsort_r(folded->lines, folded->count, sizeof(*folded->lines), compare_lines,
			folded);
	return r;
}

static int render(const struct profile *profile, const struct profile_times *times,
		  const struct format_options *options, int fd)
{
	struct folded folded = {
		.profile = profile, .options = options, .unit = 1, .texts = intern_new()};
	struct output output;
	int r = output_init(&output, fd, false);

	if (times->tick)
		folded.unit = NS_PER_MS / 1000;
	if (!folded.texts)
		r = -ENOMEM;
	if (r == 0)
		r = sort_lines(&folded);
	if (r == 0) {
		write_lines(&folded, &output);
		r = output_finish(&output);
	}
	output_release(&output);
	intern_free(folded.texts);
	format_lines_release(&folded.frames);
	free(folded.order);
	free(folded.ranks);
	free(folded.lines);
	return r;
}

const struct format format_folded = {
	.render = render,
};

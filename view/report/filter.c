/* SPDX-License-Identifier: Apache-2.0 */
#include "view/report/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "base/expression.h"
#include "profile/format/names.h"
#include "profile/profile.h"
#include "view/report/suggest.h"

enum answer {
	ANSWER_NONE, /* not asked yet */
	ANSWER_NO,
	ANSWER_YES
};

static int compile(regex_t *regex, const char *expression, const char **ret_bad)
{
	int r;

	if (!expression)
		return 0;
	r = expression_compile(regex, expression, 0);
	if (r < 0)
		*ret_bad = expression;
	return r;
}

int patterns_init(struct patterns *patterns, const struct options *options, const char **ret_bad)
{
	int r;

	*patterns = (struct patterns){0};
	r = compile(&patterns->comm, options->comm, ret_bad);
	if (r == 0)
		r = compile(&patterns->object, options->object, ret_bad);
	if (r == 0)
		r = compile(&patterns->callers, options->callers, ret_bad);
	if (r == 0)
		r = compile(&patterns->callees, options->callees, ret_bad);
	if (r < 0)
		patterns_release(patterns);
	return r;
}

/* glibc: zeros can be freed, too. */
void patterns_release(struct patterns *patterns)
{
	regfree(&patterns->comm);
	regfree(&patterns->object);
	regfree(&patterns->callers);
	regfree(&patterns->callees);
}

void filter_init(struct filter *filter, const struct options *options,
		 const struct patterns *patterns)
{
	*filter = (struct filter){.options = options, .patterns = patterns};
}

void filter_release(struct filter *filter)
{
	free(filter->comms.items);
	free(filter->objects.items);
}

static bool matches(struct filter *filter, struct verdicts *verdicts, const regex_t *regex,
		    uint32_t id, const char *text)
{
	const size_t count = (size_t)id + 1;
	struct verdict *verdict;

	if (verdicts->count < count) {
		if (ARRAY_RESERVE(verdicts->items, verdicts->capacity, count) < 0) {
			filter->failed = true;
			return true;
		}
		memset(verdicts->items + verdicts->count, 0,
		       (count - verdicts->count) * sizeof(*verdicts->items));
		verdicts->count = count;
	}
	verdict = &verdicts->items[id];
	verdict->asked++;
	if (verdict->answer == ANSWER_NONE) {
		verdict->answer = ANSWER_NO;
		if (!regexec(regex, text, 0, NULL, 0))
			verdict->answer = ANSWER_YES;
	}
	return verdict->answer == ANSWER_YES;
}

static bool matches_comm(struct filter *filter, const struct profile *profile, uint32_t name)
{
	return matches(filter, &filter->comms, &filter->patterns->comm, name,
		       profile_string_get(profile, name));
}

static const char *object_name(const struct profile *profile, uint32_t id)
{
	const struct profile_object *object = profile_object_get(profile, id);

	if (!object)
		return "";
	return profile_string_get(profile, object->name);
}

static bool matches_object(struct filter *filter, const struct profile *profile, uint32_t id)
{
	return matches(filter, &filter->objects, &filter->patterns->object, id,
		       object_name(profile, id));
}

/* Returns the id of the location's object, or 0. */
static uint32_t object_of(const struct profile *profile, uint32_t location)
{
	const struct profile_location *at = profile_location_get(profile, location);

	if (!at || !profile_object_get(profile, at->object))
		return 0;
	return at->object;
}

static bool is_kernels(const struct profile *profile, uint32_t id)
{
	const struct profile_object *object = profile_object_get(profile, id);

	return object && object->kind == KIND_KERNEL;
}

bool filter_needed(const struct options *options)
{
	return options->comm || options->object || options->pid || options->where != WHERE_ANY;
}

/* Asks both patterns, so that filter_explain() knows what each of them matches alone. */
static bool match_patterns(struct filter *filter, const struct profile *profile,
			   const struct profile_sample *sample, uint32_t object)
{
	const struct options *options = filter->options;
	bool kept = true;

	if (options->comm && !matches_comm(filter, profile, sample->process_name))
		kept = false;
	if (options->object && !matches_object(filter, profile, object))
		kept = false;
	return kept;
}

bool filter_keep(const struct profile *profile, const struct profile_sample *sample, uint32_t leaf,
		 void *context)
{
	struct filter *filter = context;
	const struct options *options = filter->options;
	const uint32_t object = object_of(profile, leaf);
	const bool kernel = is_kernels(profile, object);

	if (!match_patterns(filter, profile, sample, object))
		return false;
	if (options->pid && sample->pid != options->pid)
		return false;
	if (options->where == WHERE_KERNEL && !kernel)
		return false;
	if (options->where == WHERE_USER && kernel)
		return false;
	return true;
}

/* ---- a pattern that matches nothing ---- */

static const char *comm_of(const struct profile *profile, uint32_t id)
{
	return profile_string_get(profile, id);
}

static void offer(struct suggest *suggest, const char *raw)
{
	char clean[FORMAT_NAME_MAX];

	format_clean_name(clean, sizeof(clean), raw);
	suggest_offer(suggest, clean);
}

static int compare_asked(const void *left, const void *right, void *context)
{
	const struct verdict *items = context;
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (items[a].asked != items[b].asked)
		return compare_numbers(items[b].asked, items[a].asked);
	return compare_numbers(a, b);
}

/*
 * Returns the ids that were asked for, the most frequent first. The caller frees the array; NULL
 * means no memory.
 */
static uint32_t *order_asked(const struct verdicts *verdicts, size_t *ret_count)
{
	uint32_t *ids = calloc(verdicts->count, sizeof(*ids));

	*ret_count = 0;
	if (!ids)
		return NULL;
	for (uint32_t id = 0; id < verdicts->count; id++)
		if (verdicts->items[id].answer != ANSWER_NONE)
			ids[(*ret_count)++] = id;
	qsort_r(ids, *ret_count, sizeof(*ids), compare_asked, verdicts->items);
	return ids;
}

static bool has_match(const struct verdicts *verdicts)
{
	for (size_t id = 0; id < verdicts->count; id++)
		if (verdicts->items[id].answer == ANSWER_YES)
			return true;
	return false;
}

/* Returns true, after one line, where no name that was asked for matches the pattern. */
static bool explain(const struct verdicts *verdicts, const struct profile *profile,
		    const char *(*name)(const struct profile *profile, uint32_t id),
		    const char *pattern, const char *what)
{
	struct suggest suggest;
	uint32_t *ids;
	size_t count;

	if (!pattern || verdicts->count == 0 || has_match(verdicts))
		return false;
	suggest_begin(&suggest, pattern);
	ids = order_asked(verdicts, &count);
	for (size_t i = 0; i < count; i++)
		offer(&suggest, name(profile, ids[i]));
	free(ids);
	suggest_log(&suggest, what, "see which there are with --by");
	return true;
}

bool filter_explain(const struct filter *filter, const struct profile *profile)
{
	const struct options *options = filter->options;
	const bool object = explain(&filter->objects, profile, object_name, options->object,
				    "object that samples were taken in");
	const bool comm = explain(&filter->comms, profile, comm_of, options->comm, "process");

	return comm || object;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "view/report/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/expression.h"
#include "profile/profile.h"

static int compile(regex_t *regex, const char *expression, const char **ret_bad)
{
	if (!expression || !expression_compile(regex, expression, 0))
		return 0;
	*ret_bad = expression;
	return -EINVAL;
}

int filter_init(struct filter *filter, const struct options *options, const char **ret_bad)
{
	int r;

	*filter = (struct filter){.options = options};
	r = compile(&filter->comm, options->comm, ret_bad);
	return r ? r : compile(&filter->object, options->object, ret_bad);
}

void filter_release(struct filter *filter)
{
	if (filter->options->comm)
		regfree(&filter->comm);
	if (filter->options->object)
		regfree(&filter->object);
	free(filter->comms.items);
	free(filter->objects.items);
}

static bool matches(struct filter *filter, struct verdicts *verdicts, const regex_t *regex,
		    uint32_t id, const char *text)
{
	const size_t count = (size_t)id + 1;

	if (verdicts->count < count) {
		if (ARRAY_RESERVE(verdicts->items, verdicts->capacity, count) < 0) {
			filter->failed = true;
			return true;
		}
		memset(verdicts->items + verdicts->count, 0, count - verdicts->count);
		verdicts->count = count;
	}
	if (!verdicts->items[id])
		verdicts->items[id] = regexec(regex, text, 0, NULL, 0) ? 1 : 2;
	return verdicts->items[id] == 2;
}

bool filter_needed(const struct options *options)
{
	return options->comm || options->object || options->pid || options->where != WHERE_ANY;
}

bool filter_keep(const struct profile *profile, const struct profile_sample *sample, uint32_t leaf,
		 void *context)
{
	struct filter *filter = context;
	const struct options *options = filter->options;
	const struct profile_location *at = profile_location_get(profile, leaf);
	const struct profile_object *object = profile_object_get(profile, at ? at->object : 0);
	const bool kernel = object && object->kind == KIND_KERNEL;

	if (options->pid && sample->pid != options->pid)
		return false;
	if (options->where != WHERE_ANY && kernel != (options->where == WHERE_KERNEL))
		return false;
	if (options->comm && !matches(filter, &filter->comms, &filter->comm, sample->process_name,
				      profile_string_get(profile, sample->process_name)))
		return false;
	return !options->object ||
	       matches(filter, &filter->objects, &filter->object, object ? at->object : 0,
		       object ? profile_string_get(profile, object->name) : "");
}

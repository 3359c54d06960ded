/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/log_limit.h"

#include <stdio.h>
#include <string.h>

/* Counts a line. Returns whether it is one of the first `most`, and how many were not before. */
static bool take(struct log_count *count, uint64_t most, uint64_t interval, uint64_t now,
		 uint64_t *ret_left_out)
{
	*ret_left_out = 0;
	if (now - count->begun >= interval) {
		*ret_left_out = count->left_out;
		*count = (struct log_count){.is_used = true, .begun = now};
	}
	if (++count->lines <= most)
		return true;
	count->left_out++;
	return false;
}

/* Returns whether the first of two places is to be given up rather. */
static bool is_older(const struct log_count *one, const struct log_count *other)
{
	if (one->is_used != other->is_used)
		return !one->is_used;
	return one->begun < other->begun;
}

static struct log_count *find_source(struct log_limit *limit, const char *process, uint64_t now)
{
	size_t oldest = 0;

	for (size_t i = 0; i < LOG_LIMIT_SOURCES; i++) {
		if (limit->sources[i].count.is_used && !strcmp(limit->sources[i].process, process))
			return &limit->sources[i].count;
		if (is_older(&limit->sources[i].count, &limit->sources[oldest].count))
			oldest = i;
	}
	limit->sources[oldest].count = (struct log_count){.is_used = true, .begun = now};
	snprintf(limit->sources[oldest].process, sizeof(limit->sources[oldest].process), "%s",
		 process);
	return &limit->sources[oldest].count;
}

static struct log_count *find_line(struct log_limit *limit, const char *process, const char *text,
				   uint64_t now)
{
	size_t oldest = 0;

	for (size_t i = 0; i < LOG_LIMIT_REMEMBERED; i++) {
		if (limit->lines[i].count.is_used && !strcmp(limit->lines[i].process, process) &&
		    !strncmp(limit->lines[i].text, text, LOG_LIMIT_TEXT_BYTES - 1))
			return &limit->lines[i].count;
		if (is_older(&limit->lines[i].count, &limit->lines[oldest].count))
			oldest = i;
	}
	limit->lines[oldest].count = (struct log_count){.is_used = true, .begun = now};
	snprintf(limit->lines[oldest].process, sizeof(limit->lines[oldest].process), "%s", process);
	snprintf(limit->lines[oldest].text, LOG_LIMIT_TEXT_BYTES, "%s", text);
	return &limit->lines[oldest].count;
}

bool log_limit_take(struct log_limit *limit, const char *process, const char *text, uint64_t now,
		    struct log_left_out *ret_left_out)
{
	*ret_left_out = (struct log_left_out){0};
	if (!take(find_line(limit, process, text, now), LOG_LIMIT_EQUAL, LOG_LIMIT_EQUAL_NS, now,
		  &ret_left_out->equal))
		return false;
	return take(find_source(limit, process, now), LOG_LIMIT_LINES, LOG_LIMIT_LINES_NS, now,
		    &ret_left_out->others);
}

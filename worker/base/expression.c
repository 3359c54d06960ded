/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/base/expression.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define LARGE (EXPRESSION_SIZE_MAX + 1ul)

struct level {			    /* a group, or the whole */
	unsigned long before, last; /* sizes of what came, and of what a repeat would be about */
	unsigned int last_repeats, repeats; /* in one another: in what is last, and the most */
};

struct measure {
	const char *at;
	struct level levels[EXPRESSION_DEPTH_MAX + 1];
	unsigned int depth;
	bool has_reference;
};

static unsigned long smaller(unsigned long one, unsigned long other)
{
	return one < other ? one : other;
}

static void add(struct level *level, unsigned long size)
{
	level->before = smaller(level->before + level->last, LARGE);
	level->last = size;
	level->last_repeats = 0;
}

/* The operator is one more, in each copy. */
static void repeat(struct level *level, unsigned long times)
{
	level->last = smaller((level->last + 1) * smaller(times, LARGE), LARGE);
	if (++level->last_repeats > level->repeats)
		level->repeats = level->last_repeats;
}

static unsigned long number(const char **at)
{
	unsigned long value = 0;

	for (; isdigit((unsigned char)**at); (*at)++)
		value = smaller(value * 10 + (unsigned long)(**at - '0'), LARGE);
	return value;
}

/* {m}, {m,} and {m,n}, behind the brace; one that is none of them is a character, or an error. */
static void interval(struct measure *measure)
{
	const unsigned long least = number(&measure->at);
	unsigned long most = least;

	if (*measure->at == ',') {
		measure->at++;
		most = isdigit((unsigned char)*measure->at) ? number(&measure->at) : least + 1;
	}
	measure->at += *measure->at == '}';
	repeat(&measure->levels[measure->depth], most > 1 ? most : 1);
}

/* Behind the bracket. A first ] is one of the set; so is one within [: :], [. .] and [= =]. */
static void set(struct measure *measure)
{
	const char *at = measure->at + (*measure->at == '^');

	at += *at == ']';
	for (; *at && *at != ']'; at++) {
		const char kind = at[0] == '[' ? at[1] : '\0';

		if (kind != ':' && kind != '.' && kind != '=')
			continue;
		for (at += 2; *at && !(at[0] == kind && at[1] == ']'); at++)
			;
		if (!*at)
			break;
		at++;
	}
	measure->at = at + (*at != '\0');
}

static void close_group(struct measure *measure)
{
	const struct level *group = &measure->levels[measure->depth--];
	struct level *level = &measure->levels[measure->depth];

	level->last = smaller(group->before + group->last + 1, LARGE);
	level->last_repeats = group->repeats;
	if (level->repeats < group->repeats)
		level->repeats = group->repeats;
}

static void escape(struct measure *measure)
{
	measure->has_reference |= isdigit((unsigned char)*measure->at) != 0;
	measure->at += *measure->at != '\0';
}

static const char *refuse(const char *text)
{
	struct measure measure = {.at = text};
	struct level *levels = measure.levels;

	while (*measure.at) {
		switch (*measure.at++) {
		case '(':
			if (measure.depth == EXPRESSION_DEPTH_MAX)
				return "groups in too many groups";
			add(&levels[measure.depth], 0);
			levels[++measure.depth] = (struct level){0};
			break;
		case ')':
			if (measure.depth == 0)
				return "a ) without its (";
			close_group(&measure);
			break;
		case '+':
			repeat(&levels[measure.depth], 2);
			break;
		case '{':
			interval(&measure);
			break;
		case '[':
			add(&levels[measure.depth], 1);
			set(&measure);
			break;
		case '\\':
			add(&levels[measure.depth], 1);
			escape(&measure);
			break;
		case '*':
		case '?':
			repeat(&levels[measure.depth], 1);
			break;
		default:
			add(&levels[measure.depth], 1);
		}
	}
	while (measure.depth > 0)
		close_group(&measure);
	if (levels[0].before + levels[0].last > EXPRESSION_SIZE_MAX)
		return "too large with all its repeats";
	if (levels[0].repeats > EXPRESSION_REPEATS_MAX)
		return "repeats in too many repeats";
	return measure.has_reference ? "references such as \\1 are not supported" : NULL;
}

int expression_compile(regex_t *ret_regex, const char *text, int flags)
{
	if (refuse(text) || regcomp(ret_regex, text, REG_EXTENDED | REG_NOSUB | flags))
		return -EINVAL;
	return 0;
}

const char *expression_problem(const char *text)
{
	static char problem[128];
	const char *refused = refuse(text);
	regex_t regex;
	int r;

	if (refused)
		return refused;
	r = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);
	if (!r) {
		regfree(&regex);
		return NULL;
	}
	regerror(r, &regex, problem, sizeof(problem));
	return problem;
}

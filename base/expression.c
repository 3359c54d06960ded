/* SPDX-License-Identifier: Apache-2.0 */
#include "base/expression.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define LARGE (EXPRESSION_SIZE_MAX + 1ul)

struct level {			       /* a group, or the whole */
	unsigned long before, last;    /* sizes of what came, and of what a repeat would be about */
	bool before_empty, last_empty; /* may be nothing; of the branch */
	bool empty;		       /* an earlier branch may be */
};

struct measure {
	const char *at;
	struct level levels[EXPRESSION_DEPTH_MAX + 1];
	unsigned int depth;
	bool has_reference, repeats_nothing;
};

static const struct level begin = {.before_empty = true, .last_empty = true};

static unsigned long smaller(unsigned long one, unsigned long other)
{
	return one < other ? one : other;
}

static void add(struct measure *measure, bool empty)
{
	struct level *level = &measure->levels[measure->depth];

	level->before = smaller(level->before + level->last, LARGE);
	level->last = 1;
	level->before_empty &= level->last_empty;
	level->last_empty = empty;
}

/* The operator is one more, in each copy. */
static void repeat(struct measure *measure, unsigned long least, unsigned long most)
{
	struct level *level = &measure->levels[measure->depth];

	measure->repeats_nothing |= level->last_empty;
	level->last = smaller((level->last + 1) * smaller(most, LARGE), LARGE);
	level->last_empty |= least == 0;
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
	repeat(measure, least, most > 1 ? most : 1);
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

static bool is_empty(const struct level *level)
{
	return level->empty || (level->before_empty && level->last_empty);
}

static void next_branch(struct measure *measure)
{
	struct level *level = &measure->levels[measure->depth];

	level->empty = is_empty(level);
	add(measure, true);
	level->before_empty = true;
}

static void close_group(struct measure *measure)
{
	const struct level *group = &measure->levels[measure->depth--];

	measure->levels[measure->depth].last = smaller(group->before + group->last + 1, LARGE);
	measure->levels[measure->depth].last_empty = is_empty(group);
}

/* GNU's \b and the like are places, and no characters. */
static void escape(struct measure *measure)
{
	add(measure, *measure->at && strchr("bB<>`'", *measure->at));
	measure->has_reference |= isdigit((unsigned char)*measure->at) != 0;
	measure->at += *measure->at != '\0';
}

static const char *take(struct measure *measure, char operator)
{
	switch (operator) {
	case '(':
		if (measure->depth == EXPRESSION_DEPTH_MAX)
			return "groups in too many groups";
		add(measure, true);
		measure->levels[++measure->depth] = begin;
		break;
	case ')':
		if (measure->depth == 0)
			return "a ) without its (";
		close_group(measure);
		break;
	case '|':
		next_branch(measure);
		break;
	case '+':
		repeat(measure, 1, 2);
		break;
	case '*':
	case '?':
		repeat(measure, 0, 1);
		break;
	case '{':
		interval(measure);
		break;
	case '[':
		add(measure, false);
		set(measure);
		break;
	case '\\':
		escape(measure);
		break;
	default:
		add(measure, operator== '^' || operator== '$');
	}
	return NULL;
}

static const char *refuse(const char *text)
{
	struct measure measure = {.at = text, .levels = {begin}};
	const char *problem = NULL;

	while (*measure.at && !problem)
		problem = take(&measure, *measure.at++);
	while (measure.depth > 0)
		close_group(&measure);
	if (problem)
		return problem;
	if (measure.levels[0].before + measure.levels[0].last > EXPRESSION_SIZE_MAX)
		return "too large with all its repeats";
	if (measure.repeats_nothing)
		return "repeats what may be nothing";
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

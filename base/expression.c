/* SPDX-License-Identifier: Apache-2.0 */
#include "base/expression.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS "+*?{"

/* Returns how many copies a repeat makes of what it repeats. */
static unsigned long copies_of(const char *repeat)
{
	unsigned long least, most;
	char *end;

	if (*repeat == '+')
		return 2;
	if (*repeat != '{')
		return 1;
	least = strtoul(repeat + 1, &end, 10);
	if (*end != ',')
		return least;
	most = strtoul(end + 1, NULL, 10);
	if (most > least)
		return most;
	return least + 1; /* {m,} */
}

/* Returns the last character of an escape or a set, or `at` where neither begins there. */
static const char *last_of(const char *at)
{
	const char *end = NULL;

	if (*at == '\\' && at[1])
		return at + 1;
	if (*at == '[' && at[1])
		end = strchr(at + 2, ']');
	if (end)
		return end;
	return at;
}

static const char *refuse(const char *text)
{
	unsigned long copies = 1;
	char before = '\0'; /* 'x' stands for an escape or a set */

	if (strlen(text) > EXPRESSION_BYTES_MAX)
		return "an expression of more than 255 bytes";
	for (const char *at = text; *at; at++) {
		const bool repeats = strchr(REPEATS, *at) != NULL;
		const char *last = last_of(at);
		unsigned long times = 1;

		if (repeats)
			times = copies_of(at);
		if (*at == '\\' && isdigit((unsigned char)at[1]))
			return "references such as \\1 are not supported";
		if (repeats && before && strchr(REPEATS "}", before))
			return "repeats a repeat";
		if (times > EXPRESSION_INTERVAL_MAX)
			return "repeats more than 255 times";
		if (before == ')' && times > 1)
			copies *= times;
		if (copies > EXPRESSION_COPIES_MAX)
			return "too large with all its repeats";
		before = *at;
		if (last > at)
			before = 'x';
		at = last;
	}
	return NULL;
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

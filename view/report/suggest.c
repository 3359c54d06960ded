/* SPDX-License-Identifier: Apache-2.0 */
#include "view/report/suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ipc/log.h"
#include "base/nearest.h"
#include "profile/format/names.h"
#include "view/short_name.h"

#define SPECIAL "^$.*+?()[]{}|\\"

void suggest_begin(struct suggest *suggest, const char *pattern)
{
	size_t longest = 0, length;

	*suggest = (struct suggest){.pattern = pattern};
	for (const char *at = pattern; *at; at += length + (at[length] != '\0')) {
		length = strcspn(at, SPECIAL);
		if (length <= longest || length >= sizeof(suggest->word))
			continue;
		longest = length;
		memcpy(suggest->word, at, length);
		suggest->word[length] = '\0';
	}
}

static bool is_near(const char *word, const char *clean)
{
	char text[SUGGEST_WORD_BYTES];
	const char *names[] = {text, NULL};

	short_name(clean, text, sizeof(text));
	return text[0] && nearest(word, names);
}

/* Keeps a name at a place, and moves the names from there on by one; the last one may fall out. */
static void insert(struct suggest *suggest, size_t place, const char *clean)
{
	if (suggest->count < SUGGEST_NAMES)
		suggest->count++;
	memmove(suggest->name[place + 1], suggest->name[place],
		(suggest->count - 1 - place) * sizeof(suggest->name[0]));
	format_clean_name(suggest->name[place], sizeof(suggest->name[0]), clean);
}

void suggest_offer(struct suggest *suggest, const char *clean)
{
	if (!suggest->word[0])
		return;
	if (strcasestr(clean, suggest->word)) {
		if (suggest->containing < SUGGEST_NAMES)
			insert(suggest, suggest->containing++, clean);
		return;
	}
	if (suggest->count < SUGGEST_NAMES && is_near(suggest->word, clean))
		insert(suggest, suggest->count, clean);
}

void suggest_log(const struct suggest *suggest, const char *what, const char *advice)
{
	char names[SUGGEST_NAMES * (SUGGEST_NAME_BYTES + 2) + 1] = "";
	const char *separator = "";
	size_t used = 0;

	if (suggest->count == 0) {
		log_error("report: %s: matches no %s; %s", suggest->pattern, what, advice);
		return;
	}
	for (size_t i = 0; i < suggest->count; i++) {
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", separator,
					 suggest->name[i]);
		separator = ", ";
	}
	log_error("report: %s: matches no %s; did you mean: %s", suggest->pattern, what, names);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the names that the user of a pattern may have meant, when the pattern matches no name. */
#ifndef KEYHOLE_VIEW_REPORT_SUGGEST_H
#define KEYHOLE_VIEW_REPORT_SUGGEST_H

#include <stddef.h>

#define SUGGEST_NAMES	   5
#define SUGGEST_NAME_BYTES 96 /* of a name, with the NUL; a longer name is cut */
#define SUGGEST_WORD_BYTES 64

struct suggest {
	const char *pattern;	       /* borrowed */
	char word[SUGGEST_WORD_BYTES]; /* the longest plain text of the pattern; "": none */
	char name[SUGGEST_NAMES][SUGGEST_NAME_BYTES]; /* clean */
	size_t containing; /* the first names contain the word, in any case */
	size_t count;	   /* the others are a few mistakes away from the word */
};

void suggest_begin(struct suggest *suggest, const char *pattern);
/* Considers a clean name. The caller offers the most important name first. */
void suggest_offer(struct suggest *suggest, const char *clean);
/*
 * Logs one line: the pattern, that it matches no `what` ("function"), and the names. Without a name
 * the line ends in `advice`.
 */
void suggest_log(const struct suggest *suggest, const char *what, const char *advice);

#endif

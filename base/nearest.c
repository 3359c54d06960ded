/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include <stddef.h>
#include <string.h>

#define WORD_BYTES 31

static unsigned int least(unsigned int a, unsigned int b)
{
	if (a < b)
		return a;
	return b;
}

/*
 * Counts the mistakes between two words by the table of Damerau and Levenshtein. Row i, column j
 * has the count for the first i letters of one word and the first j letters of the other.
 */
static unsigned int steps(const char *from, const char *to)
{
	unsigned int rows[WORD_BYTES + 1][WORD_BYTES + 1];
	const size_t height = strlen(from), width = strlen(to);

	for (size_t j = 0; j <= width; j++)
		rows[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= height; i++) {
		rows[i][0] = (unsigned int)i;
		for (size_t j = 1; j <= width; j++) {
			unsigned int replaced = rows[i - 1][j - 1] + (from[i - 1] != to[j - 1]);

			rows[i][j] = least(replaced, least(rows[i - 1][j], rows[i][j - 1]) + 1);
			if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
				rows[i][j] = least(rows[i][j], rows[i - 2][j - 2] + 1);
		}
	}
	return rows[height][width];
}

const char *nearest(const char *word, const char *const *names)
{
	const char *found = NULL;
	unsigned int best;

	if (strlen(word) > WORD_BYTES)
		return NULL;
	best = (unsigned int)(strlen(word) + 2) / 3 + 1;
	for (; *names; names++) {
		unsigned int count;

		if (strlen(*names) > WORD_BYTES)
			continue;
		count = steps(word, *names);
		if (count >= best)
			continue;
		best = count;
		found = *names;
	}
	return found;
}

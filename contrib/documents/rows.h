/* SPDX-License-Identifier: Apache-2.0 */
/* All rows of the options.def files, with what manual pages and completions take of a row. */
#ifndef KEYHOLE_CONTRIB_DOCUMENTS_ROWS_H
#define KEYHOLE_CONTRIB_DOCUMENTS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/option.h"

enum completion {
	COMPLETE_NOTHING,
	COMPLETE_FILES,
	COMPLETE_FOLDERS,
	COMPLETE_CGROUPS,
	COMPLETE_PROCESSES,
	COMPLETE_USERS,
	COMPLETE_WORDS,
	COMPLETE_LIST, /* words with commas */
};

struct row {
	struct option_row option;
	enum completion completion;
	const char *words;  /* separated by blanks */
	const char *manual; /* mdoc(7) */
};

struct verb {
	const char *name;
	const char *help;   /* of the completions */
	const char *manual; /* of keyhole(1) */
	uint32_t bit;	    /* in option_row.verbs */
};

extern const struct row rows[];
extern const size_t row_count;
extern const struct verb verbs[];
extern const size_t verb_count;

/* Returns NULL when there is no such verb. */
const struct verb *verb_find(const char *name);

/* Says whether top hands the option on to record: it is an option of record. */
bool row_is_handed_on(const struct row *row);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of `keyhole check`, as JSON or as indented text with the same content. Most of it is
 * written at once. Findings are kept for the end, where they also make the exit status.
 */
#ifndef KEYHOLE_VIEW_CHECK_REPORT_H
#define KEYHOLE_VIEW_CHECK_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define REPORT_FINDINGS_MAX 256 /* of each kind; "others" takes the place of the last one */
#define REPORT_DEPTH_MAX    8
#define REPORT_LINE_BYTES   256

enum report_finding {
	FINDING_DEVIATION,
	FINDING_UNKNOWN,
	FINDING_COUNT
};

struct report {
	FILE *stream; /* borrowed */
	bool json;
	unsigned int depth;
	bool filled[REPORT_DEPTH_MAX];	/* by depth: has an entry already */
	char closing[REPORT_DEPTH_MAX]; /* by depth: '}' or ']' */
	unsigned int findings[FINDING_COUNT];
	struct {
		char object[64], what[REPORT_LINE_BYTES];
	} finding[FINDING_COUNT][REPORT_FINDINGS_MAX];
};

/* bracket: '{' or '['. Entries of a list have no name (NULL). */
void report_open(struct report *report, const char *name, char bracket);
void report_close(struct report *report);
void report_text(struct report *report, const char *name, const char *value); /* or NULL */
void report_number(struct report *report, const char *name, uint64_t value);
void report_bool(struct report *report, const char *name, bool value);

void report_add(struct report *report, enum report_finding kind, const char *object,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Writes the findings. Returns 0: all is well, 1: deviations, 3: something could not be seen. */
int report_end(struct report *report);

#endif

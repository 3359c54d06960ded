/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways to look at a profile. Each view returns 0, -ENOMEM, or with --json a
 * negative errno of standard output.
 */
#ifndef KEYHOLE_VIEW_REPORT_VIEW_H
#define KEYHOLE_VIEW_REPORT_VIEW_H

#include "view/report/filter.h"
#include "view/report/options.h"
#include "view/screen.h"
#include "view/source.h"
#include "view/tally.h"
#include "profile/format/json.h"
#include "profile/format/output.h"
#include "profile/read/pprof_read.h"
#include "profile/profile.h"

struct report {
	const struct options *options;
	struct patterns patterns;
	struct profile *profile; /* of a difference: both */
	struct pprof_info info;
	struct pprof_info old; /* of a difference */
	struct screen screen;
	bool unmatched; /* a pattern of the filters matches nothing, which is in the log */
};

/* Prints the head of every view: what the file holds. */
void header_print(const struct report *report);

int view_table(const struct report *report); /* the rows of --by, also as a difference */
/* Returns also -ENOENT, after one line in the log: a pattern matches no function. */
int view_callers(const struct report *report);
int view_tree(const struct report *report);

/* Returns nanoseconds, or an amount of the profile's unit. */
double view_value(const struct report *report, uint64_t count);
const char *view_unit(const struct pprof_info *info);

struct view_json {
	const struct report *report; /* borrowed */
	struct output output;	     /* to the descriptor of report->screen */
	struct json json;
};

/*
 * Opens the object that --json prints, with the members of the head; a view adds its own. Returns 0
 * or -ENOMEM. view_json_end() follows either way.
 */
int view_json_begin(struct view_json *to, const struct report *report);
/* Ends the object. Returns r where it is an error, else 0 or a negative errno of the output. */
int view_json_end(struct view_json *to, int r);
/* Prints a member: the key and the count's value, as a number. */
void view_json_value(struct view_json *to, const char *key, uint64_t count);
/* Prints members "file" and "line" of a name, as far as the profile knows them. */
void view_json_source(struct view_json *to, const struct name_sources *sources, uint32_t name);
/*
 * Prints "  FILE:LINE" of a name, without folders, where there is room for all of it. Returns how
 * many columns that took.
 */
unsigned int view_print_source(const struct report *report, const struct name_sources *sources,
			       uint32_t name, unsigned int columns);

#endif

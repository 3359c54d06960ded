/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to look at a profile. Each view returns 0 or -ENOMEM. */
#ifndef KEYHOLE_VIEW_REPORT_VIEW_H
#define KEYHOLE_VIEW_REPORT_VIEW_H

#include "view/report/filter.h"
#include "view/report/options.h"
#include "view/screen.h"
#include "view/tally.h"
#include "profile/read/pprof_read.h"
#include "profile/profile.h"

struct report {
	const struct options *options;
	struct patterns patterns;
	struct profile *profile; /* of a difference: both */
	struct pprof_info info;
	struct pprof_info old; /* of a difference */
	struct screen screen;
};

/*
 * Print the head of every view: what the file holds. The JSON head opens an object, to which a view
 * adds members.
 */
void header_print(const struct report *report);
void header_print_json(const struct report *report);

int view_table(const struct report *report); /* the rows of --by, also as a difference */
int view_callers(const struct report *report);
int view_tree(const struct report *report);

#define NS_PER_S 1e9

/* Returns nanoseconds, or an amount of the profile's unit. */
double view_value(const struct report *report, uint64_t count);
const char *view_unit(const struct pprof_info *info);
/* Prints a member: the key and the value as a number. */
void view_json_value(const struct report *report, const char *key, uint64_t count);

#endif

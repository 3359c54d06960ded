/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to look at a profile. Each returns 0, -ENOMEM, or -EINVAL: a bad regular expression. */
#ifndef KEYHOLE_VIEW_REPORT_VIEW_H
#define KEYHOLE_VIEW_REPORT_VIEW_H

#include "view/report/options.h"
#include "view/screen.h"
#include "view/tally.h"
#include "profile/read/pprof_read.h"
#include "profile/profile.h"

struct report {
	const struct options *options;
	struct profile *profile; /* of a difference: both */
	struct pprof_info info;
	struct pprof_info old; /* of a difference */
	struct screen screen;
};

/* What the file holds, above every view. As JSON: the members, to be followed by others. */
void header_print(const struct report *report);
void header_print_json(const struct report *report);

int view_table(const struct report *report); /* the rows of --by, also as a difference */
int view_callers(const struct report *report);
int view_tree(const struct report *report);

/* In nanoseconds or what the profile counts. */
double view_value(const struct report *report, uint64_t count);
double view_percent(uint64_t part, uint64_t sum);
const char *view_unit(const struct report *report);
/* value as a number of JSON */
void view_json_value(const struct report *report, const char *key, uint64_t count);

#endif

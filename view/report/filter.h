/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples are shown. */
#ifndef KEYHOLE_VIEW_REPORT_FILTER_H
#define KEYHOLE_VIEW_REPORT_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/report/options.h"

struct profile;
struct profile_sample;

struct verdicts { /* by id: 0 not asked, else 1 + whether it matches */
	uint8_t *items;
	size_t count, capacity;
};

struct filter {
	const struct options *options;
	regex_t comm, object;
	struct verdicts comms, objects; /* by string, by object */
	bool failed;			/* no memory: everything is kept */
};

/* 0, or -EINVAL: an expression is none; *ret_bad is it. */
int filter_init(struct filter *filter, const struct options *options, const char **ret_bad);
void filter_release(struct filter *filter);

/* Whether any sample could be refused. */
bool filter_needed(const struct options *options);

/* For pprof_read(). */
bool filter_keep(const struct profile *profile, const struct profile_sample *sample, uint32_t leaf,
		 void *filter);

#endif

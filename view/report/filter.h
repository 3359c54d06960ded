/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which samples a report shows. */
#ifndef KEYHOLE_VIEW_REPORT_FILTER_H
#define KEYHOLE_VIEW_REPORT_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/report/options.h"

struct profile;
struct profile_sample;

struct verdicts {	/* caches the answers of an expression */
	uint8_t *items; /* by id: enum verdict */
	size_t count, capacity;
};

struct filter {
	const struct options *options;
	regex_t comm, object;
	struct verdicts comms, objects; /* by id of the string, of the object */
	bool failed;			/* no memory: from then on everything is kept */
};

/* Returns 0, or -EINVAL with *ret_bad, the text that is no regular expression. */
int filter_init(struct filter *filter, const struct options *options, const char **ret_bad);
void filter_release(struct filter *filter);

/* Returns whether the options refuse any sample. */
bool filter_needed(const struct options *options);

/* The keep() of pprof_read(); filter is its context. */
bool filter_keep(const struct profile *profile, const struct profile_sample *sample, uint32_t leaf,
		 void *filter);

#endif

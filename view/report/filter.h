/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles the regular expressions of a report, and decides which samples the report shows. */
#ifndef KEYHOLE_VIEW_REPORT_FILTER_H
#define KEYHOLE_VIEW_REPORT_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/report/options.h"

struct profile;
struct profile_sample;

struct patterns { /* each compiled where the option is given, else zeros */
	regex_t comm, object, callers, callees;
};

/*
 * Returns 0, or -EINVAL with *ret_bad, the first text that is no regular expression. The caller
 * releases nothing after a failure.
 */
int patterns_init(struct patterns *patterns, const struct options *options, const char **ret_bad);
void patterns_release(struct patterns *patterns);

struct verdict {
	uint8_t answer; /* enum answer */
	uint64_t asked; /* how many samples have asked */
};

struct verdicts {	       /* caches the answers of an expression */
	struct verdict *items; /* by id */
	size_t count, capacity;
};

struct filter {
	const struct options *options;	 /* borrowed */
	const struct patterns *patterns; /* borrowed */
	struct verdicts comms, objects;	 /* by id of the string, of the object */
	bool failed;			 /* no memory: from then on everything is kept */
};

void filter_init(struct filter *filter, const struct options *options,
		 const struct patterns *patterns);
void filter_release(struct filter *filter);

/* Returns whether the options refuse any sample. */
bool filter_needed(const struct options *options);

/* The keep() of pprof_read(); filter is its context. */
bool filter_keep(const struct profile *profile, const struct profile_sample *sample, uint32_t leaf,
		 void *filter);

/*
 * Logs one line for each pattern that matched no name of the samples that filter_keep() saw, with
 * names that the user may have meant. Returns whether there is such a pattern. Where each pattern
 * matches other samples, there is none.
 */
bool filter_explain(const struct filter *filter, const struct profile *profile);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads pprof's format into the model, from files of keyhole and of other writers
 * (proto/README.md). The file may come from anywhere: each index and id is checked, and a bad one
 * refuses the whole file. Stacks, lines and names that are too long are cut, and counted.
 *
 * The model has one value for a sample: see struct pprof_info.
 */
#ifndef KEYHOLE_PROFILE_READ_PPROF_READ_H
#define KEYHOLE_PROFILE_READ_PPROF_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

#ifndef PPROF_ENTRIES_MAX
#define PPROF_ENTRIES_MAX (1u << 24) /* strings, mappings, functions, locations and their lines */
#endif
#define PPROF_SAMPLES_MAX (1u << 24)
#define PPROF_TYPES_MAX	  32u /* of a sample's values */

struct pprof_options {
	const char *sample_type; /* NULL: the file's default, else its last */
	bool base;		 /* counts go to struct profile_sample.base */
	/*
	 * NULL, or tells whether a sample is kept. The sample has no stack yet, so leaf is given.
	 */
	bool (*keep)(const struct profile *profile, const struct profile_sample *sample,
		     uint32_t leaf, void *context);
	void *context;
};

struct pprof_info {
	/*
	 * Counts are samples of one period when the file has samples and a period, and the chosen
	 * values are always samples * period. Counts of other times are nanoseconds, with a period
	 * of 1. Other counts are in the file's unit, with a period of 1. times.event is NULL or one
	 * of the texts below, and times.type is NULL where counts are samples.
	 */
	struct profile_times times;
	char type[64], unit[32]; /* of the sample type: "cpu", "nanoseconds"; clean */
	char event[64];		 /* the type of the period */
	bool is_time;		 /* count * by are nanoseconds, else `unit` */
	uint64_t by;		 /* the worth of a count: 1, or times.period */
	uint64_t total, kept;	 /* sums of counts, before and after keep() */
	uint64_t stacks_cut;	 /* samples of more than PROFILE_STACK_MAX frames: without a root */
	uint64_t lines_cut;	 /* functions inlined deeper than PROFILE_LINES_MAX */
	uint64_t strings_cut;	 /* longer than FORMAT_NAME_MAX */
	bool ours;		 /* written by keyhole, with the reasons of cut stacks */
	char types[128];	 /* all sample types of the file: "samples, cpu" */
	char problem[192];	 /* of the file, after -EBADMSG, -E2BIG or -ENOENT */
};

/*
 * Adds the file to the model. Returns 0, -EBADMSG: not a profile, -E2BIG: more than a limit,
 * -ENOENT: no such sample type, or -ENOMEM. On failure the model holds parts of the file.
 */
int pprof_read(const void *bytes, size_t size, const struct pprof_options *options,
	       struct profile *profile, struct pprof_info *ret_info);

#endif

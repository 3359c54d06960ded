/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples of an OTLP message. Samples of one process with an equal stack and equal attributes
 * are one (struct otlp_sample), as receivers demand.
 *
 * Either all samples of a message have their times and no value, or all have one value and no time.
 * Some receivers refuse each other shape, and some refuse a mixture. The times are there where the
 * profile has kept the time of each sample, and no more than PROFILE_MOMENTS_MAX.
 */
#ifndef KEYHOLE_PROFILE_FORMAT_OTLP_SAMPLES_H
#define KEYHOLE_PROFILE_FORMAT_OTLP_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct intern;
struct otlp;

#define OTLP_SAMPLE_ATTRIBUTES 8u			/* at most */
#define OTLP_SAMPLE_GIVEN      (PROFILE_LABELS_MAX + 1) /* those of a goroutine, at most */

struct otlp_sample {
	uint32_t process;			    /* index in otlp_samples.processes */
	int32_t stack, link;			    /* indexes in the tables */
	int32_t attributes[OTLP_SAMPLE_ATTRIBUTES]; /* indexes in the table, then zeros */
	uint32_t given; /* id in otlp_samples.given: further attributes; 0: none */
};

/*
 * The samples of one profile. A process has one, or two in a row where threads are both on and off
 * the CPU: these are one resource.
 */
struct otlp_process {
	uint32_t first, count; /* of samples, by otlp_samples_get() */
	bool off_cpu;	       /* the samples are of threads off the CPU */
	bool continues;	       /* the process of the one before */
	uint32_t pid;
	uint32_t process;      /* struct profile_process, or 0 */
	uint32_t process_name; /* string of the profile: the last one, where the name has changed */
	uint32_t container, pod; /* strings of the profile, 0: none, or samples disagree */
};

struct otlp_samples {
	struct intern *keys;  /* struct otlp_sample, from id 1 on */
	struct intern *given; /* indexes in the table of attributes, one after another */
	uint64_t *counts;     /* by sample */
	size_t *first;	      /* by sample: times[first[i]] is its first time; up to first[i + 1] */
	uint64_t *times;      /* CLOCK_REALTIME in ns, ascending; NULL: values */
	struct otlp_process *processes;
	size_t process_count;
	uint64_t start, end; /* CLOCK_REALTIME in ns: each time is before the end */
};

/*
 * Makes the samples of otlp->profile, and adds what they refer to to the tables. Returns 0 or
 * -ENOMEM. The caller releases the samples either way.
 */
int otlp_samples_init(struct otlp *otlp);
void otlp_samples_release(struct otlp_samples *samples); /* zeros are fine */
struct otlp_sample otlp_samples_get(const struct otlp_samples *samples, uint32_t index);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile's samples by thread, and each thread's samples by time. A thread counts as one thread
 * for each name that it had, and for each name that its process had.
 */
#ifndef KEYHOLE_PROFILE_FORMAT_THREADS_H
#define KEYHOLE_PROFILE_FORMAT_THREADS_H

#include <stddef.h>
#include <stdint.h>

struct profile;
struct profile_times;

struct format_thread {
	uint32_t pid, tid;
	uint32_t process_name, thread_name;   /* strings */
	uint32_t process;		      /* number of its pid and process name, from 0 */
	uint32_t process_again, thread_again; /* how many before have its pid; pid and tid */
	uint32_t samples;		      /* how many */
	size_t first;			      /* in format_threads.order */
	size_t first_moment, moments;	      /* in format_threads.moments */
	uint64_t count;
};

/* One thing on a thread's line of time: samples of one stack. */
struct format_moment {
	uint64_t time;	 /* ns since the start of the recording, before its end */
	uint32_t sample; /* index in profile_samples() */
	uint32_t rest;	 /* 0: of one; 1: all whose time is not known, at the end */
};

struct format_threads {
	const struct profile *profile; /* borrowed */
	uint32_t *order;	       /* indexes in profile_samples() */
	struct format_thread *threads; /* by process; see below */
	size_t count;		       /* of threads */
	struct format_moment *moments; /* NULL: not asked for */
	uint64_t *known;	       /* by sample: of how many the time is known */
};

int format_threads_init(struct format_threads *threads, const struct profile *profile);
void format_threads_release(
	struct format_threads *threads); /* also after a failure, and of zeros */

/* Sorts the threads, most samples first. order[] and moments[] stay as they are. */
void format_threads_by_count(struct format_threads *threads);
/* Fills moments, 16 bytes for each moment of the profile and for each sample at most. */
int format_threads_add_moments(struct format_threads *threads, const struct profile_times *times);
/* Returns how many samples a moment stands for. */
uint64_t format_moment_weight(const struct format_threads *threads,
			      const struct format_moment *moment);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts the samples of a profile by thread, and those of a thread by time. Names may change during
 * a recording. A thread here is one pid, process name, tid and thread name: a thread that changed
 * its name is two threads.
 */
#ifndef KEYHOLE_PROFILE_FORMAT_THREADS_H
#define KEYHOLE_PROFILE_FORMAT_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct profile_times;

struct format_thread {
	uint32_t pid, tid;
	uint32_t process_name, thread_name; /* strings of the profile */
	uint32_t process;		    /* number of the pair (pid, process_name), from 0 */
	uint32_t process_again;		    /* number of earlier processes with the pid */
	uint32_t thread_again;		    /* number of earlier threads with process and tid */
	size_t first;			    /* order[first] is the first of the thread's samples */
	uint32_t samples;		    /* entries of order[]; each sample has its own count */
	size_t first_moment;		    /* moments[first_moment] is the first of its moments */
	size_t moments;
	uint64_t count; /* the sum of the samples' counts */
};

/*
 * A moment shows one sample that has a time, or all samples of a struct profile_sample without a
 * time. Samples without a time come at the end of the recording. In a profile without any time, all
 * samples are at 0.
 */
struct format_moment {
	uint64_t time;	 /* ns since the start of the recording, and before its end */
	uint32_t sample; /* index below profile_samples() */
	uint32_t rest;	 /* 1: the samples without a time; 0: one sample */
};

struct format_threads {
	const struct profile *profile; /* borrowed; the caller adds nothing to the profile */
	uint32_t *order;	       /* indexes of samples, one thread after another */
	/* Sorted by pid, process name, tid and thread name, until format_threads_by_count(). */
	struct format_thread *threads;
	size_t count;		       /* of threads */
	struct format_moment *moments; /* NULL before format_threads_add_moments() */
	bool timed;		       /* false: there are samples, and none has a time */
	uint64_t *known;	       /* by index of a sample: how many have a time */
};

/* Sorts the samples. Returns 0 or -ENOMEM. The caller releases the threads either way. */
int format_threads_init(struct format_threads *threads, const struct profile *profile);
void format_threads_release(struct format_threads *threads); /* also of zeros */

/* Sorts the threads, most samples first. order[] and moments[] stay as they are. */
void format_threads_by_count(struct format_threads *threads);
/*
 * Makes moments[], each thread's by ascending time. A moment takes 16 bytes. There are at most as
 * many moments as the profile has moments and samples together. The caller calls this once. Returns
 * 0 or -ENOMEM.
 */
int format_threads_add_moments(struct format_threads *threads, const struct profile_times *times);
/* Returns how many samples a moment shows. */
uint64_t format_moment_weight(const struct format_threads *threads,
			      const struct format_moment *moment);

#endif

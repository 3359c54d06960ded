/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counts of BPF, and the number of samples that the used CPU time should have given. Both come
 * from descriptors of the loader that can only be read.
 */
#ifndef KEYHOLE_HELPER_COUNTS_H
#define KEYHOLE_HELPER_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "ipc/messages.h"

struct counts {
	struct message_counts source;
	int fds[COUNTS_DESCRIPTORS]; /* in the order in which they come; owned */
	unsigned int fd_count;
	const struct counters *rows; /* source.cpus, mapped; NULL before counts_begin() */
	struct counters before;	     /* this worker */
	uint64_t started;	     /* monotonic */
	uint64_t runtime;	     /* ns of CPU time when it was */
};

struct counted {
	uint64_t elapsed;  /* ns since the start of sampling */
	uint64_t expected; /* CPU time / period, once it is over; the filtered are among them */
	bool counted;	   /* no CPU time: nothing can be expected */
	uint64_t seen, complete; /* samples, as the worker says: message_progress */
	uint64_t samples, events_lost, processes_lost, denied, filtered; /* struct counters */
	uint64_t restarted;	       /* samples that workers had which ended: not in reason[] */
	uint64_t reason[REASON_COUNT]; /* of this worker, and what no worker got */
};

/* One of the descriptors, with what it says of all: 0, or -EPROTO for one too many. Owns it. */
int counts_take(struct counts *counts, const struct message_counts *source, int fd);

/* Maps the counters and takes the first reading. 0 or a negative errno. */
int counts_begin(struct counts *counts);

/* Takes the counts until now for another worker's, which are lost with it. */
void counts_replace(struct counts *counts);

/* Until now; zero before counts_begin(). `seen` and `complete` are left 0. */
struct counted counts_sum(const struct counts *counts);

/* The same with the last reading: expected. 0 or a negative errno. */
int counts_end(struct counts *counts, struct counted *ret_counted);

/* The CPU time of a cgroup in ns, from the text of its cpu.stat: 0 or -EBADMSG. */
int counts_parse_usage(const char *text, size_t size, uint64_t *ret_nanoseconds);

#endif

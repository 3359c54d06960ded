/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums the counters of BPF and computes from CPU time how many samples were to be expected. The
 * loader's descriptors, which are read-only, are the source of both.
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
	int fds[COUNTS_DESCRIPTORS]; /* by enum counts_descriptor; owned */
	unsigned int fd_count;
	const struct counters
		*rows; /* one for each of source.cpus, mapped; NULL before counts_begin() */
	const uint64_t *denied; /* samples by rule, mapped as rows is; [0]: for another reason */
	struct counters before; /* sums when this worker began */
	uint64_t started;	/* start of sampling, monotonic */
	uint64_t runtime;	/* ns of CPU time at the start of sampling */
};

struct counted {
	uint64_t elapsed;  /* ns since the start of sampling */
	uint64_t expected; /* CPU time / period, set at the end; includes the filtered samples */
	uint64_t used;	   /* ns of CPU time, set at the end */
	uint64_t threads;  /* whose CPU time that is, set at the end; 0: not known */
	bool counted;	   /* samples do not follow from CPU time: `expected` means nothing */
	uint64_t seen, complete; /* samples, from the worker's message_progress */
	uint64_t samples, events_lost, processes_lost, denied, filtered; /* struct counters */
	uint64_t switches_lost, waits_lost;				 /* off_* of the same */
	uint64_t denied_counted;       /* part of denied, whose CPU time the readings hold */
	uint64_t restarted;	       /* samples of workers that ended: not in reason[] */
	uint64_t reason[REASON_COUNT]; /* of this worker, and samples that no worker got */
};

/* Takes one descriptor, and owns it; `source` describes all of them. 0; -EPROTO: one too many. */
int counts_take(struct counts *counts, const struct message_counts *source, int fd);

/* Maps the counters and takes the first reading. 0 or a negative errno. */
int counts_begin(struct counts *counts);

/* Moves the counts until now to `restarted`: their worker ended, and the samples are lost. */
void counts_replace(struct counts *counts);

/* Returns the counts until now; all 0 before counts_begin(). `seen` and `complete` stay 0. */
struct counted counts_sum(const struct counts *counts);

/* Returns the counts with `expected`, which takes the last reading. 0 or a negative errno. */
int counts_end(struct counts *counts, struct counted *ret_counted);

/* Counts the samples again by their reasons: some had no record yet at the end of sampling. */
void counts_settle(const struct counts *counts, struct counted *counted);

/* Reads the CPU time of a cgroup in ns from the text of its cpu.stat. 0 or -EBADMSG. */
int counts_parse_usage(const char *text, size_t size, uint64_t *ret_nanoseconds);

#endif

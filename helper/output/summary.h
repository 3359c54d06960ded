/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of a recording: samples that were expected, taken, complete, cut and lost. */
#ifndef KEYHOLE_HELPER_SUMMARY_H
#define KEYHOLE_HELPER_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bpf/abi.h"
#include "helper/output/counts.h"
#include "ipc/messages.h"
#include "base/limits.h"

struct summary {
	uint64_t expected; /* CPU time / period */
	bool counted;	   /* as of struct counted: `expected` means nothing */
	uint64_t taken, complete, guessed, cut, lost, without_names;
	uint64_t filtered;	       /* left out by the command line: neither taken nor lost */
	uint64_t reason[REASON_COUNT]; /* with discarded they add up to taken */
	uint64_t discarded;	       /* emitted for this worker, missing in the profile: lost */
	uint64_t malformed, unkept;    /* parts of the discarded: not well-formed, no memory */
	uint64_t restarted;	       /* lost with a worker that ended */
	uint64_t limit[LIMIT_COUNT];   /* see base/limits.def */
	struct message_waited waited;  /* to be set by the caller; all 0: not told */
	struct summary_off_cpu off_cpu;
	struct summary_runtime runtime[SUMMARY_RUNTIMES]; /* as of struct message_summary */
	struct summary_object object[SUMMARY_OBJECTS];	  /* as of struct message_summary */
};

/*
 * Makes the summary from the counts of BPF and of the worker. A count of BPF is the upper bound for
 * a number of the worker's. by_name: the worker may have left out samples by their names.
 */
void summary_make(const struct counted *counted, const struct message_summary *worker, bool by_name,
		  struct summary *ret_summary);

/* Writes the line of progress without its line end, most important facts first. */
#define PROGRESS_BYTES 160
void summary_progress(const struct counted *counted, char ret_line[static PROGRESS_BYTES]);

/* Logs why a recording has no samples, and how to get some. */
void summary_explain_none(const struct counted *counted, const struct message_waited *waited,
			  uint64_t lost, uint64_t filtered);

void summary_print(const struct summary *summary, bool verbose, FILE *stream);

#endif

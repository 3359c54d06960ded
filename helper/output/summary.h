/* SPDX-License-Identifier: Apache-2.0 */
/* The last word of a recording: what was expected, what was taken and what became of it. */
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
	bool counted;	   /* none can be expected */
	uint64_t taken, complete, cut, lost, without_names;
	uint64_t filtered; /* neither taken nor lost: the command line leaves them out */
	uint64_t reason[REASON_COUNT]; /* with discarded they add up to taken */
	uint64_t discarded;	       /* emitted for this worker, but not in the profile: lost */
	uint64_t malformed, unkept;    /* of the discarded: not well-formed, no memory */
	uint64_t restarted;	       /* with a worker that ended: lost too */
	uint64_t limit[LIMIT_COUNT];   /* see base/limits.def */
};

/*
 * Nothing has more samples than BPF counted, whatever the worker says. by_name: it may have left
 * out some by their names.
 */
void summary_make(const struct counted *counted, const struct message_summary *worker, bool by_name,
		  struct summary *ret_summary);

/* While the recording goes on: one line without its end, what matters most first. */
#define PROGRESS_BYTES 160
void summary_progress(const struct counted *counted, char ret_line[static PROGRESS_BYTES]);

/* Logs why a recording has no samples, and what to do. */
void summary_explain_none(const struct counted *counted, uint64_t lost, uint64_t filtered);

void summary_print(const struct summary *summary, bool verbose, FILE *stream);

#endif

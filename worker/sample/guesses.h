/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses of the walk, and whether names of code made at run time prove them. */
#ifndef KEYHOLE_WORKER_SAMPLE_GUESSES_H
#define KEYHOLE_WORKER_SAMPLE_GUESSES_H

#include "bpf/abi.h"

struct made_names;
struct process;

/*
 * Returns the number of the first user frame to which the way is a guess that nothing proves, or
 * the number of all frames. made NULL, process NULL: nothing does.
 */
unsigned int guesses_find(struct made_names *made, const struct process *process,
			  const struct record *head, const u64 *frames);

#endif

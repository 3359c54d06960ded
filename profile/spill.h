/* SPDX-License-Identifier: Apache-2.0 */
/* Moves samples, stacks and times to a file when memory holds too many. */
#ifndef KEYHOLE_PROFILE_SPILL_H
#define KEYHOLE_PROFILE_SPILL_H

#include <stdbool.h>
#include <stdint.h>

struct moment_list;
struct sample_list;
struct stack_list;

struct spill {
	int fd;		  /* borrowed; -1: none, or none any more */
	uint64_t at;	  /* length of the file */
	int error;	  /* why the file is not used any more: a negative errno */
	bool goes_on;	  /* closed chunks are still in memory */
	uint64_t samples; /* that came while it went on */
};

/* Returns whether there is a file that takes another chunk. */
bool spill_has_room(const struct spill *spill);
/*
 * Comes after each sample. Begins when the lists hold PROFILE_MEMORY_MAX bytes: from then on
 * nothing finds the stacks and samples so far. Later calls move a chunk now and then, as samples
 * wait meanwhile.
 */
void spill_turn(struct spill *spill, struct stack_list *stacks, struct sample_list *samples,
		struct moment_list *moments);

#endif

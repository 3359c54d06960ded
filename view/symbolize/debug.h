/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug information of one object, read by a child that has nothing but descriptors and ends when
 * it has answered: what is in such a file may be anything.
 */
#ifndef KEYHOLE_VIEW_SYMBOLIZE_DEBUG_H
#define KEYHOLE_VIEW_SYMBOLIZE_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/symbolize/exchange.h"

/* For one object; memory and CPU time are those of ROLE_DEBUG. */
#define DEBUG_SECONDS  20 /* then it answers with what it has */
#define DEBUG_WALL_MAX 90 /* seconds on a slow disk: then it ends */

#define DEBUG_FILES_MAX 18

struct debug_files {
	int fds[DEBUG_FILES_MAX]; /* maybe of that build id; the first that has some is taken */
	size_t count;
	int alternate; /* -1: none */
};

struct debug_limits {
	uint64_t memory, answer; /* bytes; 0: as ROLE_DEBUG has them */
	uint64_t time;		 /* ns: then it answers with what it has */
	unsigned int cpu;	 /* seconds: then it ends; 0: as ROLE_DEBUG has them */
	bool symbols;		 /* name what debug information says nothing of */
};

/*
 * Confines the process for good, then answers. Files need no build id when the question has none.
 * 0 or a negative errno.
 */
int debug_answer(const struct exchange *exchange, const struct ask *ask,
		 const struct debug_files *files, const struct debug_limits *limits);

/* The same in a child. Leaves the answer in its memfd. */
struct told debug_read(const struct exchange *exchange, const struct ask *ask,
		       const struct debug_files *files);

#endif

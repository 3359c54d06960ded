/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets the caller of a long piece of work look in between: to do something shorter first, or to end
 * the work. Work is counted in steps, about one for a row.
 */
#ifndef KEYHOLE_OBJECT_UNWIND_PACE_H
#define KEYHOLE_OBJECT_UNWIND_PACE_H

#include <stddef.h>

#define PACE_STEPS 4096u

struct pace {
	int (*turn)(void *context); /* 0, or -ETIME or -ECANCELED, which ends the work */
	void *context;
	unsigned int done; /* steps since the last turn */
};

/* Counts a step. Returns 0 or what turn() returned. NULL is fine: nobody looks. */
static inline int pace_step(struct pace *pace)
{
	if (!pace || ++pace->done < PACE_STEPS)
		return 0;
	pace->done = 0;
	return pace->turn(pace->context);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The priority of a start. A start has dozens of short steps in ten processes, one after another.
 * On a saturated machine each step would wait for its turn behind all targets.
 */
#ifndef KEYHOLE_LOADER_PRIORITY_H
#define KEYHOLE_LOADER_PRIORITY_H

/*
 * Raises the priority of this process, and of the processes that it forks from now on. A refusal
 * only makes the start slower.
 */
void priority_raise(void);

/*
 * Gives this process the priority that it had before priority_raise(). Needs no right. A forked
 * process calls this function when it serves longer than the start, or runs for the user.
 */
void priority_restore(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The priority of a start. A start has dozens of short steps in ten processes, one after another.
 * On a saturated machine each step would wait for its turn behind all targets, by sessions or
 * cgroups where those are groups of the scheduler. So a start has the lowest real-time priority
 * (SCHED_RR 1, sched(7)), which stands above groups. A start uses less than half a second of a CPU.
 * A refusal of a priority only makes the start slower.
 */
#ifndef KEYHOLE_LOADER_PRIORITY_H
#define KEYHOLE_LOADER_PRIORITY_H

/* Raises the priority of this process, and of the processes that it forks from now on. */
void priority_raise(void);

/*
 * Gives this process the priority that it had before priority_raise(). Needs no right. A forked
 * process calls this function when it serves longer than the start, or runs for the user.
 */
void priority_restore(void);

/* Gives this process, and the group of the session that it leads, the worker's priority. */
void priority_raise_worker(void);

#endif

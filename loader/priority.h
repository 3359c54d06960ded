/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The priority of a start. A start has dozens of short steps in ten processes, one after another.
 * On a saturated machine each step would wait for its turn behind all targets. With
 * CONFIG_SCHED_AUTOGROUP each session is a group, and the group's priority decides between
 * sessions. A refusal of a priority only makes the start slower.
 */
#ifndef KEYHOLE_LOADER_PRIORITY_H
#define KEYHOLE_LOADER_PRIORITY_H

#define PRIORITY_WORKER (-10) /* of the worker, and of its session's group */

/* Raises the priority of this process, and of the processes that it forks from now on. */
void priority_raise(void);

/*
 * Gives this process the priority that it had before priority_raise(). Needs no right. A forked
 * process calls this function when it serves longer than the start, or runs for the user.
 */
void priority_restore(void);

/* Raises the group of this session until priority_settle() or priority_abandon(). */
void priority_raise_session(void);
/* The start is over: restores this process, and leaves the group as the worker needs it. */
void priority_settle(void);
/* The start has failed: restores the group. Does nothing after priority_settle(). */
void priority_abandon(void);

#endif

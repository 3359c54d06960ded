/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer of `keyhole why PID`: no profile, but a screen of text on what is known of a process's
 * mappings, what their samples lack, and what to do about it.
 */
#ifndef KEYHOLE_WORKER_WHY_WHY_H
#define KEYHOLE_WORKER_WHY_WHY_H

struct profile;
struct profile_times;
struct sources;

#define WHY_COLUMNS 79 /* of a line, at most; printable ASCII */
#define WHY_LINES   23 /* of the whole */

/* Of the samples of sources->pid. 0 or a negative errno. */
int why_render(const struct profile *profile, const struct sources *sources,
	       const struct profile_times *times, int fd);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer of `keyhole why PID`: a screen of text. The page shows the mappings of a process, the
 * names and rules that samples lack, and things to do. sources.h looks the objects up, findings.h
 * counts samples, advice.h advises, and this module writes the page.
 */
#ifndef KEYHOLE_WORKER_WHY_WHY_H
#define KEYHOLE_WORKER_WHY_WHY_H

struct profile;
struct profile_times;
struct sources;

#define WHY_COLUMNS 79 /* of a line, at most; printable ASCII */
#define WHY_LINES   23 /* of the whole */

/* Writes the page about the samples of sources->pid. Returns 0 or a negative errno. */
int why_render(const struct profile *profile, const struct sources *sources,
	       const struct profile_times *times, int fd);

#endif

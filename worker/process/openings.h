/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the questions for descriptors of files: of a process, of a cgroup, and of all. Questions
 * about slow processes wait apart (target.h), maybe for long and for a process that has ended. They
 * have places of their own, so that they take none from others.
 */
#ifndef KEYHOLE_WORKER_PROCESS_OPENINGS_H
#define KEYHOLE_WORKER_PROCESS_OPENINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "worker/target/target.h"

struct map;

#define OPENINGS_APART_MAX 64u /* questions; further ones are asked when these are answered */

struct openings {
	struct map *of_process;		 /* apart or not */
	struct map *of_group, *apart_of; /* of a cgroup; without a cgroup, of a process */
	size_t count, apart;
};

int openings_init(struct openings *openings); /* 0 or -ENOMEM; openings_release() in any case */
void openings_release(struct openings *openings);

/* Counts a question that is asked (1) or answered (-1). */
void openings_add(struct openings *openings, struct target_process process, bool apart, int more);
size_t openings_of_process(const struct openings *openings, struct target_process process);
size_t openings_of_group(const struct openings *openings, struct target_process process);
/* Returns whether one more question may wait apart. A group leaves as many places as it has. */
bool openings_has_place_apart(const struct openings *openings, struct target_process process);

#endif

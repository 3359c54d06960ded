/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of a profile, by their generation. */
#ifndef KEYHOLE_PROFILE_PROCESS_LIST_H
#define KEYHOLE_PROFILE_PROCESS_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct map;

struct process_list {
	struct profile_process *items; /* the id is the index + 1 */
	size_t count, capacity;
	struct map *ids; /* by generation */
};

int process_list_init(struct process_list *list); /* 0 or -ENOMEM */
void process_list_release(struct process_list *list);
/* As profile_process_add() and profile_process_get(). */
uint32_t process_list_add(struct process_list *list, const struct profile_process *process);
struct profile_process process_list_get(const struct process_list *list, uint32_t id);

#endif

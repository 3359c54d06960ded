/* SPDX-License-Identifier: Apache-2.0 */
/* Names of processes and paths of cgroups, as the policy lets them be told, and clean. */
#ifndef KEYHOLE_WORKER_ACCOUNT_TEXTS_H
#define KEYHOLE_WORKER_ACCOUNT_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/container.h"

struct redact;

struct texts { /* all borrowed */
	const struct redact *redact;
	const char *(*path)(void *context, uint64_t cgroup); /* raw; NULL: not known */
	void *path_context;
};

void texts_process(const struct texts *texts, const char *raw, char *ret_clean, size_t size);
/* Gets the path of a cgroup, "id:" and its id where the path is not known, or "" for no cgroup. */
void texts_cgroup(const struct texts *texts, uint64_t id, char *ret_clean, size_t size);
/* Gets the id of the container that a cgroup is in. Returns false without one. */
bool texts_container(const struct texts *texts, uint64_t id, char ret_id[CONTAINER_ID_BYTES]);

#endif

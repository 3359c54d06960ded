/* SPDX-License-Identifier: Apache-2.0 */
/* The paths of cgroups by id, as BPF programs tell them. BPF tells a path once to each worker. */
#ifndef KEYHOLE_WORKER_SAMPLE_CGROUPS_H
#define KEYHOLE_WORKER_SAMPLE_CGROUPS_H

#include <stdint.h>

#ifndef CGROUPS_MAX
#define CGROUPS_MAX 4096u
#endif

struct cgroups;

struct cgroups *cgroups_new(void); /* NULL: no memory */
void cgroups_free(struct cgroups *cgroups);

/*
 * Keeps a raw path, and forgets the path that was asked for longest ago when there are CGROUPS_MAX.
 * Without memory, and for id 0 or an empty path, keeps nothing.
 */
void cgroups_add(struct cgroups *cgroups, uint64_t id, const char *path);
/* Returns the raw path, valid until the next addition, or NULL for an unknown id. */
const char *cgroups_find(struct cgroups *cgroups, uint64_t id);

#endif

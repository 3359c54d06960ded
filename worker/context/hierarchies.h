/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a process's container and pod in the hierarchies of control groups of version 1, which BPF
 * does not tell of. The text is that of /proc/PID/cgroup: "NUMBER:CONTROLLERS:PATH" a line
 * (cgroups(7)); the line of version 2 has the number 0.
 */
#ifndef KEYHOLE_WORKER_CONTEXT_HIERARCHIES_H
#define KEYHOLE_WORKER_CONTEXT_HIERARCHIES_H

#include <stddef.h>

struct attributes;

/*
 * Adds container.id and k8s.pod.uid. Returns 0, or -ENOENT: the host has no hierarchy of version 1.
 */
int hierarchies_read(const char *text, size_t size, struct attributes *attributes);

#endif

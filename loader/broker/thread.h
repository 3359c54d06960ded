/* SPDX-License-Identifier: Apache-2.0 */
/* A thread of a process as the kernel shows it. The working directory of the broker is /proc. */
#ifndef KEYHOLE_LOADER_BROKER_THREAD_H
#define KEYHOLE_LOADER_BROKER_THREAD_H

#include <stdint.h>

/*
 * Opens a file of the thread's folder to be read. Returns a descriptor, which the caller owns, or a
 * negative errno. -ENOENT: the process has no such thread.
 */
int thread_open(uint32_t pid, uint32_t thread, const char *name);

#endif

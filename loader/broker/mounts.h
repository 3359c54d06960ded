/* SPDX-License-Identifier: Apache-2.0 */
/* Which file systems files may be opened on. */
#ifndef KEYHOLE_LOADER_BROKER_MOUNTS_H
#define KEYHOLE_LOADER_BROKER_MOUNTS_H

#include <stdint.h>

/* Makes a memfd, to know where such are: before the broker is confined. 0 or a negative errno. */
int mounts_init(void);
/* For a descriptor of O_PATH of what a process maps. 0 or -EACCES; waits for no file system. */
int mounts_check(uint32_t pid, int fd);

/* An overlay, by its device, its options, and the mountinfo of the first process, which is cut to
 * pieces. 0 or -EACCES: it may be as slow as one of its layers. */
int mounts_overlay(const char *device, const char *options, char *first);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The file systems on which the broker may open files. */
#ifndef KEYHOLE_LOADER_BROKER_MOUNTS_H
#define KEYHOLE_LOADER_BROKER_MOUNTS_H

#include <stdint.h>

/*
 * Makes a memfd, to learn the mount of all memfds. Call it before the broker is confined. Returns 0
 * or a negative errno.
 */
int mounts_init(void);

/*
 * Judges the mount of a file that the process maps. fd: an O_PATH descriptor. Waits for no file
 * system. Returns 0 or a negative errno. -EACCES: the file system is not allowed. -ESRCH: the
 * process has ended, and its mounts with the process.
 */
int mounts_check(uint32_t pid, int fd);

/*
 * Judges an overlay, which may be as slow as one of its layers. first: mountinfo of the first
 * process, which the function cuts to pieces. Returns 0 or -EACCES.
 */
int mounts_overlay(const char *device, const char *options, char *first);

#endif

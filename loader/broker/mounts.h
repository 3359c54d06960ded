/* SPDX-License-Identifier: Apache-2.0 */
/* The file systems on which the broker may open files. */
#ifndef KEYHOLE_LOADER_BROKER_MOUNTS_H
#define KEYHOLE_LOADER_BROKER_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/broker/charges.h"
#include "loader/broker/verdicts.h"

struct mounts {
	uint64_t memfds;       /* id of the kernel's own mount for memfds, which no list has */
	uint64_t memfd_device; /* of memfds, and of shared memory without a file (stat(2)) */
	uint32_t users;	       /* inode of the first process's user namespace */
	bool has_users;	       /* the kernel has user namespaces */
	uint64_t refused;      /* answers: -EBUSY */
	struct charges charges;
	struct verdicts verdicts;
};

/*
 * Makes a memfd, to learn the mount of all memfds. Call it before the broker is confined, in /proc.
 * Returns 0 or a negative errno.
 */
int mounts_init(struct mounts *mounts);

/*
 * Judges the mount of a file that the process maps. fd: an O_PATH descriptor. Waits for no file
 * system. Returns 0 or a negative errno. -EACCES: the file system is not allowed. -ESRCH, -ENOENT:
 * the process has ended, and its mounts with the process. -EBUSY: the lists of the process's user
 * took much time, ask again a second later.
 */
int mounts_check(struct mounts *mounts, uint32_t pid, int fd);

/*
 * Finds who pays for a process. All strangers of a user are one group, because a user may make many
 * namespaces. Other processes are in the group of their user in their namespace of mounts. The
 * lower half of the id is the user's. Returns 0 or a negative errno.
 */
int mounts_group(const struct mounts *mounts, uint32_t pid, struct charge_group *ret_group);

/*
 * Judges an overlay, which may be as slow as one of its layers. first: mountinfo of the first
 * process, which the function cuts to pieces. Returns 0 or -EACCES.
 */
int mounts_overlay(const char *device, const char *options, char *first);

#endif

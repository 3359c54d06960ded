/* SPDX-License-Identifier: Apache-2.0 */
/* A mapping of a process: its file, the file's name, its permissions. As the kernel has them. */
#ifndef KEYHOLE_LOADER_BROKER_MAPPED_H
#define KEYHOLE_LOADER_BROKER_MAPPED_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "ipc/messages.h"

struct mapped {
	uint32_t pid, thread; /* a thread of the process, through which it is looked at */
	uint64_t start, end;  /* exactly the bounds of the mapping */
};

/* Returns whether there may be such a mapping: its bounds are those of pages. */
bool mapped_is_valid(const struct mapped *mapped);
/*
 * Opens the mapped file (O_PATH), which waits for no file system. Returns a descriptor or a
 * negative errno. -EACCES: the process has the file open for writing.
 */
int mapped_open(const struct mapped *mapped);
/* Does the same for a file that the process may have open for writing. */
int mapped_open_any(const struct mapped *mapped);
/*
 * Identifies a file by its cached attributes alone: a file system need not answer here either.
 * Returns 0 or a negative errno. -EACCES: no regular file.
 */
int mapped_identify(int fd, struct statx *ret_status, struct message_object_reply *ret_reply);
/*
 * Reads the path of the mapped file, as the kernel writes it. Returns 0 or a negative errno.
 * -ENAMETOOLONG: the path is longer.
 */
int mapped_name(const struct mapped *mapped, char ret_path[PATH_MAX]);
/*
 * Returns 0 for a mapping that may be executed, or a negative errno. -EACCES: one that may not.
 * -ENOENT: there is none with these bounds. -E2BIG: the list of mappings is too long to tell.
 */
int mapped_check_code(const struct mapped *mapped);
/*
 * Returns 0 for a mapping that the kernel names OTEL_CTX: a memfd, or memory that the process named
 * with prctl(PR_SET_VMA). memfd_device: of all memfds. Returns a negative errno as above.
 * -EOPNOTSUPP: the name is another. -EACCES: a file has that name.
 */
int mapped_check_context(const struct mapped *mapped, uint64_t memfd_device);
/*
 * Looks up what is behind the bytes start..end of a process. Returns 0 for memory, a memfd
 * included, and 1 with the mapping of a file or a device. Returns a negative errno as above.
 * -EACCES: the bytes are not in one mapping.
 */
int mapped_find_file(const struct mapped *mapped, uint64_t memfd_device, struct mapped *ret_file);

#endif

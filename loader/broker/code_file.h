/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file in which a process names the code that it makes at run time. It is /tmp/perf-PID.map of
 * the process's own root, or jit-PID.dump, which the process maps. PID is the process's id as the
 * process itself sees it. perf defined both names.
 */
#ifndef KEYHOLE_LOADER_BROKER_CODE_FILE_H
#define KEYHOLE_LOADER_BROKER_CODE_FILE_H

#include <stddef.h>
#include <stdint.h>

struct mapped;
struct message_object_reply;
struct mounts;

#define CODE_FILE_STATUS_BYTES 8192 /* read of a process's status */

struct code_file_owner {
	uint32_t uid; /* effective */
	uint32_t pid; /* in the innermost namespace of pids */
};

/*
 * Reads the status of a process, NUL terminated, as the kernel writes it. Returns 0, or -E2BIG: the
 * text lacks a line, because the process has very many groups.
 */
int code_file_parse(const char *status, struct code_file_owner *ret_owner);

/*
 * Opens the file of a process (O_PATH), and sets its identity. Start and end 0 stand for the map.
 * Each part of the map's path is looked up by itself, once the mount of the part before it is known
 * to need nobody's answer. No part may be a symbolic link. Returns a descriptor or a negative
 * errno:
 *
 *   -ENOENT   no such process, thread, mapping or file
 *   -EINVAL   no such mapping may be
 *   -EACCES   no regular file; it has other names, or another owner; or its file system, or that
 *             of a folder above, is not allowed; the mapped file is no dump of this process
 *   -EBUSY    as of mounts_check()
 */
int code_file_open(struct mounts *mounts, const struct mapped *mapped,
		   struct message_object_reply *ret_reply);

#endif

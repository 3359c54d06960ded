/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for files of debug information, at the end of a recording: it waits for each answer. */
#ifndef KEYHOLE_WORKER_TARGET_DEBUG_FILES_H
#define KEYHOLE_WORKER_TARGET_DEBUG_FILES_H

struct debug_files;

/* All answers together: after that nothing is asked any more. */
#define DEBUG_FILES_WAIT_MS 1000

struct debug_files *debug_files_new(int fd);	  /* takes fd; NULL: no memory */
void debug_files_free(struct debug_files *files); /* NULL is fine */

/* A path below the folders of debug files. The file, owned by the caller; -ENOENT, -EACCES: there
 * is none; -ENAMETOOLONG; -EPIPE: nobody answers, or has not in time. */
int debug_files_open(struct debug_files *files, const char *path);

#endif

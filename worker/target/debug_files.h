/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for files of debug information, at the end of a recording: it waits for each answer. */
#ifndef KEYHOLE_WORKER_TARGET_DEBUG_FILES_H
#define KEYHOLE_WORKER_TARGET_DEBUG_FILES_H

struct debug_files;
struct message_lines;

/* All answers together: after that nothing is asked any more. */
#define DEBUG_FILES_WAIT_MS 1000

struct debug_files *debug_files_new(int fd);	  /* takes fd; NULL: no memory */
void debug_files_free(struct debug_files *files); /* NULL is fine */

/* A path below the folders of debug files. The file, owned by the caller; -ENOENT, -EACCES: there
 * is none; -ENAMETOOLONG; -EPIPE: nobody answers, or has not in time. */
int debug_files_open(struct debug_files *files, const char *path);

/*
 * What debug information in a file says of the addresses in another: a file, owned by the caller,
 * whose writer is not trusted (worker/dwarf/answer.h). A negative errno: see helper/output/dwarf.h;
 * -EPIPE as above: it waits for as long as the question says, and DEBUG_FILES_SLACK_MS.
 */
#define DEBUG_FILES_SLACK_MS 400
int debug_files_lines(struct debug_files *files, int file, int addresses,
		      const struct message_lines *question);

#endif

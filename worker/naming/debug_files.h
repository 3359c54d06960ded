/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for files of debug information. It waits for each answer, and so does the worker's loop: in
 * a stream while it goes on, else at the end of a recording. */
#ifndef KEYHOLE_WORKER_NAMING_DEBUG_FILES_H
#define KEYHOLE_WORKER_NAMING_DEBUG_FILES_H

#include <stdint.h>

struct debug_files;
struct message_lines;

/* All answers together: after that nothing is asked any more, until it is allowed again. */
#define DEBUG_FILES_WAIT_MS   1000 /* at the end */
#define DEBUG_FILES_WINDOW_MS 30   /* of each window of a stream */

struct debug_files *debug_files_new(int fd);	  /* takes fd; NULL: no memory */
void debug_files_free(struct debug_files *files); /* NULL is fine */

/* From now on so long; NULL is fine, here and below. */
void debug_files_allow(struct debug_files *files, unsigned int milliseconds);

/* Files that were not asked for, as there was no time left. */
uint64_t debug_files_unasked(const struct debug_files *files);

/* A path below the folders of debug files. The file, owned by the caller; -ENOENT, -EACCES: there
 * is none; -ENAMETOOLONG; -EPIPE: nobody answers, or has not in time. */
int debug_files_open(struct debug_files *files, const char *path);

/*
 * What debug information in a file says of the addresses in another: a file, owned by the caller,
 * whose writer is not trusted (object/dwarf/answer.h). A negative errno: see helper/output/dwarf.h;
 * -EPIPE: nobody answers, or one answer was late. It waits for as long as the question says, and
 * DEBUG_FILES_SLACK_MS, whatever is allowed above; before that, for a file that was asked for and
 * has not come yet, as long as is still allowed.
 */
#define DEBUG_FILES_SLACK_MS 400
int debug_files_lines(struct debug_files *files, int file, int addresses,
		      const struct message_lines *question);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files as the kernel lists them for mappings (device, inode, inode generation), and the object of
 * each. A listing is only a hint: inode numbers are reused, and stacked file systems list other
 * numbers than they answer. So the target is asked for the object, and again after a while.
 */
#ifndef KEYHOLE_WORKER_PROCESS_FILE_H
#define KEYHOLE_WORKER_PROCESS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/target/target.h"

struct file;
struct files;
struct object;
struct objects;

#define FILE_VERIFIED_FOR 50000000ull	/* ns: a file may be written to in place */
#define FILE_TRUSTED_FOR  1000000000ull /* ns: until then the object stays in use during a check */
#define FILE_RETRY_AFTER  1000000000ull /* ns: after a failure, or a mapping that was gone */

/*
 * The most files that are opened or parsed at once, for all processes and for one process; further
 * files wait. Each has a descriptor (policy/roles.h: 4096).
 */
#ifndef FILES_AT_ONCE_MAX
#define FILES_AT_ONCE_MAX 2048
#endif
#ifndef FILES_OF_PROCESS_MAX
#define FILES_OF_PROCESS_MAX 256
#endif

struct files *files_new(struct objects *objects, struct target *target); /* NULL: no memory */
void files_free(struct files *files);					 /* NULL is fine */

/* Returns the file with these numbers, a new one if need be. generation 0: not told. NULL: no
 * memory. */
struct file *files_get(struct files *files, uint64_t device, uint64_t inode, uint64_t generation,
		       const char *path);
/*
 * Returns the object of a file that is mapped at start..end of a process. NULL: the target was
 * asked, and files_changes() counts when another call may help.
 */
struct object *files_object(struct files *files, struct file *file, struct target_process process,
			    uint64_t start, uint64_t end, uint64_t now);
uint64_t file_device(const struct file *file); /* as listed */
/* Returns whether the target knew no such mapping: the process, or its listing, is out of date. */
bool file_is_gone(const struct file *file, struct target_process process, uint64_t start,
		  uint64_t end);
/* Returns the last object of a file whose mapping is gone, or a failed one. NULL: an answer is
 * due. */
struct object *files_last_object(struct files *files, struct file *file, uint64_t now);
/*
 * Begins another round, about once a second: a file whose question failed for want of descriptors
 * or memory may be asked about again. So may the files of a process that the target made wait.
 */
void files_retry(struct files *files);
uint64_t files_changes(const struct files *files);
uint64_t files_put_off(const struct files *files); /* count of files that had to wait */
/* Counts files that turned out to be another object than before. */
uint64_t files_replaced(const struct files *files);
/*
 * Returns whether a mapping got the earlier object at a time when the file had been replaced
 * already.
 */
bool file_replaces(const struct file *file, const struct object *object, uint64_t identified);

/* Marks the file, and its object as well. Mark, then sweep: see object.h. */
void file_mark(struct file *file);
void files_sweep(struct files *files);
/* Frees files that nobody keeps and nobody asked for, but no objects. Keep, then sweep. */
void file_keep(struct file *file);
void files_sweep_unasked(struct files *files);

#endif

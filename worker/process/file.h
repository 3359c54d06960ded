/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel lists for a mapping (device, inode, inode generation), and which object that is.
 * The listing is only a hint: inode numbers are reused and stacked file systems list others than
 * they answer, so the object behind it is asked for through the target, and again after a while.
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
#define FILE_TRUSTED_FOR  1000000000ull /* ns: meanwhile taken for what it was */
#define FILE_RETRY_AFTER  1000000000ull /* ns: what failed, or a mapping that was gone */

/* Being opened or parsed at a time, each with a descriptor (policy/roles.h: 4096), and those of one
 * process. More wait. */
#ifndef FILES_AT_ONCE_MAX
#define FILES_AT_ONCE_MAX 2048
#endif
#ifndef FILES_OF_PROCESS_MAX
#define FILES_OF_PROCESS_MAX 256
#endif

struct files *files_new(struct objects *objects, struct target *target); /* NULL: no memory */
void files_free(struct files *files);					 /* NULL is fine */

/* generation 0: not told. NULL: no memory. */
struct file *files_get(struct files *files, uint64_t device, uint64_t inode, uint64_t generation,
		       const char *path);
/*
 * The object of a file that is mapped at start..end of a process: at once when that is known, else
 * NULL and the target is asked; files_changes() counts when asking again may help.
 */
struct object *files_object(struct files *files, struct file *file, struct target_process process,
			    uint64_t start, uint64_t end, uint64_t now);
uint64_t file_device(const struct file *file); /* as it is listed */
/* The target knows no such mapping: the process, or its listing, is out of date. */
bool file_is_gone(const struct file *file, struct target_process process, uint64_t start,
		  uint64_t end);
/* For a mapping that is gone: what was known, or a failed object; NULL while an answer is due. */
struct object *files_last_object(struct files *files, struct file *file, uint64_t now);
uint64_t files_changes(const struct files *files);
uint64_t files_put_off(const struct files *files); /* so many had to wait */
/* Files that turned out to hold something else than what they were taken for. */
uint64_t files_replaced(const struct files *files);
/* Whether that is so for a mapping which got an object at a time. */
bool file_replaces(const struct file *file, const struct object *object, uint64_t identified);

/* Mark, then sweep: see object.h. Marks the file's object as well. */
void file_mark(struct file *file);
void files_sweep(struct files *files);
/* The same for files alone, and of these only what was never asked for: keep, then sweep. */
void file_keep(struct file *file);
void files_sweep_unasked(struct files *files);

#endif

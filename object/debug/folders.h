/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds and opens files of debug information, below folders that the user named and by the paths of
 * objects. The paths come from parties that are not trusted. Therefore only regular files are
 * opened, and only for reading. This module reads no byte of a file.
 */
#ifndef KEYHOLE_OBJECT_DEBUG_FOLDERS_H
#define KEYHOLE_OBJECT_DEBUG_FOLDERS_H

#include <stddef.h>

#define DEBUG_FOLDERS_MAX     8
#define DEBUG_FOLDERS_DEFAULT "/usr/lib/debug"
#define DEBUG_SUFFIX	      ".debug"

enum debug_links {
	/* links lead only to files below the folder; the names of files end in DEBUG_SUFFIX */
	DEBUG_LINKS_BELOW,
	/* links lead anywhere: distributions link build ids to the programs themselves */
	DEBUG_LINKS_ANYWHERE,
};

struct debug_folders {
	int fd[DEBUG_FOLDERS_MAX]; /* O_PATH, owned */
	size_t count;
	enum debug_links links;
};

/* Adds a folder. 0, -E2BIG when there are DEBUG_FOLDERS_MAX, or another negative errno. */
int debug_folders_add(struct debug_folders *folders, const char *path);

/* Opens the file at the path below one folder: a descriptor or a negative errno. */
int debug_folders_open_at(const struct debug_folders *folders, size_t folder, const char *path);

/* Opens the file in the first folder that has it: a descriptor or a negative errno. */
int debug_folders_find(const struct debug_folders *folders, const char *path);

/* Opens the file of a build id of 2 or more bytes, as above. -EINVAL: another size. */
int debug_folders_find_id(const struct debug_folders *folders, const unsigned char *id,
			  size_t size);

/* Writes .build-id/xx/yyyy and the suffix. 0, or -EINVAL: no build id has this size. */
#define DEBUG_ID_PATH_BYTES 256
int debug_id_path(const unsigned char *id, size_t size, const char *suffix,
		  char ret_path[static DEBUG_ID_PATH_BYTES]);

/* Opens the file at an absolute path: a descriptor or a negative errno. */
int debug_open_path(const char *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens files of debug information for the worker, below the folders that the user named and with
 * the user's rights, in a process of its own: what it waits for (a network's file system) nobody
 * else waits for. The worker chooses the path, so it is not trusted: regular files that end in
 * ".debug", below a folder also after following links, for reading only. The same process has such
 * files, and the worker's own, read by a program that can do nothing else (dwarf.h).
 */
#ifndef KEYHOLE_HELPER_OUTPUT_DEBUG_FILES_H
#define KEYHOLE_HELPER_OUTPUT_DEBUG_FILES_H

#include <stddef.h>

struct message_debug_file;

#define DEBUG_FOLDERS_MAX     8 /* more are left out */
#define DEBUG_FOLDERS_DEFAULT "/usr/lib/debug"

struct debug_folders {
	int fd[DEBUG_FOLDERS_MAX]; /* O_PATH */
	size_t count;
	int program; /* O_PATH: that reads debug information; -1: there is none */
};

/* A list separated by colons; NULL: the default. What was given and cannot be opened is named. */
void debug_folders_open(struct debug_folders *folders, const char *list);

/* The file in the first folder that has it, or a negative errno. */
int debug_folders_find(const struct debug_folders *folders,
		       const struct message_debug_file *request);

/* The same for a path, and for the file of a build id. */
int debug_folders_find_path(const struct debug_folders *folders, const char *path);
int debug_folders_find_id(const struct debug_folders *folders, const unsigned char *id,
			  size_t size);

/* Starts the process that answers the worker at the other end of `peer`, which it takes, until that
 * end is closed. It has the folders, and nothing else that is open here. */
void debug_files_serve(const struct debug_folders *folders, int peer);

#endif

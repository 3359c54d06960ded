/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output: a temporary file in the output's folder, which gets the output's name once it is
 * complete; or a FIFO or standard output. All calls are made with the invoking user's rights, in
 * one working directory.
 */
#ifndef KEYHOLE_HELPER_OUTPUT_FILE_H
#define KEYHOLE_HELPER_OUTPUT_FILE_H

#include <stdbool.h>

#include "base/output_name.h"

struct output_file {
	const char *path;    /* as the user gave it; "-" is standard output */
	bool force;	     /* replace an existing regular file of that name */
	bool stream;	     /* profiles follow one another: standard output or a FIFO alone */
	bool is_nowhere;     /* the profiles go to a server, or each gets a file (rotation.h) */
	bool is_folder;	     /* path is the folder of those files */
	const char *name;    /* in the working directory, which is the output's folder */
	char temporary[32];  /* its name there; "": no file is made */
	bool kept;	     /* under the temporary name, as the file could not get its own */
	const char *problem; /* why a call failed, and a way out */
	char room[OUTPUT_NAME_PROBLEM]; /* for such a text */
};

/*
 * Enters the folder, gives up the rights that are not needed there and makes the temporary file,
 * or opens the FIFO. Returns the descriptor to write to, or a negative errno with file->problem:
 *   -EEXIST, -EISDIR  a file without file->force; a folder
 *   -ELOOP            a symbolic link
 *   -EINVAL           no file, FIFO or standard output; a file for a stream
 *   -ENXIO            a FIFO that no process reads
 *   -EPERM            a FIFO of another user
 *   others            of the folder, or of a call of the system
 */
int output_file_open(struct output_file *file);

/*
 * Gives the file the output's name. Returns 0, or a negative errno with file->problem. After a
 * failure the file keeps its temporary name for good: what was recorded is not thrown away.
 * file->kept is false when somebody has removed the file or its folder.
 */
int output_file_commit(struct output_file *file);

/* Removes the temporary name, if the file has no other and was not to be kept. */
void output_file_discard(const struct output_file *file);

#endif

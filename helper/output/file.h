/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output file: a temporary file in the output's folder, which gets the output's name once it is
 * complete. All calls are made with the invoking user's rights, in one working directory.
 */
#ifndef KEYHOLE_HELPER_OUTPUT_FILE_H
#define KEYHOLE_HELPER_OUTPUT_FILE_H

#include <stdbool.h>

struct output_file {
	const char *path;   /* as the user gave it; "-" is standard output */
	bool force;	    /* replace an existing file of that name */
	const char *name;   /* in the working directory, which is the output's folder */
	char temporary[32]; /* its name there; "": standard output */
};

/*
 * Enters the folder, gives up the rights that are not needed there and makes the temporary file.
 * Returns the descriptor of the file or of standard output, or a negative errno. The errors are
 * -EEXIST, -EISDIR, -EINVAL (not a regular file) and those of the folder.
 */
int output_file_open(struct output_file *file);

/* Gives the file the output's name. 0 or a negative errno. */
int output_file_commit(const struct output_file *file);

/* Removes the temporary name, if it is still there. */
void output_file_discard(const struct output_file *file);

#endif

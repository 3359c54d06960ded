/* SPDX-License-Identifier: Apache-2.0 */
/* Makes files in memory for another process. */
#ifndef KEYHOLE_BASE_MEMORY_FILE_H
#define KEYHOLE_BASE_MEMORY_FILE_H

/*
 * Returns the descriptor of an empty file, which the caller owns, or a negative errno. The file can
 * be sealed. Linux 6.3 and newer never executes the file.
 */
int memory_file(const char *name);

/* Goes to the start of a file: the next writes replace its bytes. 0 or a negative errno. */
int memory_file_rewind(int fd);

#endif

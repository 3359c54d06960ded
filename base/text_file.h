/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file that is small enough to be read at once. */
#ifndef KEYHOLE_BASE_TEXT_FILE_H
#define KEYHOLE_BASE_TEXT_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Reads the whole file, or `size` bytes of a larger one. Returns how many, or a negative errno. */
ssize_t text_file_read(int fd, char *ret_text, size_t size);

#endif

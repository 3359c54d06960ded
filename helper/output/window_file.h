/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a window that came as a memfd into a file of the working directory. */
#ifndef KEYHOLE_HELPER_OUTPUT_WINDOW_FILE_H
#define KEYHOLE_HELPER_OUTPUT_WINDOW_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of one window, at most: beyond that the worker is no longer ours. */
#define WINDOW_FILE_MAX (64ull << 20)

/* Checks that a memfd cannot shrink. Returns 0, -EPERM or -EFBIG (beyond WINDOW_FILE_MAX). */
int window_file_check(int memfd, uint64_t bytes);

/*
 * Writes the head and the first `bytes` of a memfd into a new file, mode 0600, which gets the name
 * once it is whole. A file of the temporary name is one that an agent left: it is removed. Returns
 * 0 or a negative errno.
 */
int window_file_write(const char *name, const char *temporary, const void *head, size_t head_size,
		      int memfd, uint64_t bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers bytes and writes them to a descriptor, compressed by gzip if wanted. write() is the only
 * system call. The first error stays: later calls write nothing, and output_finish() returns the
 * error.
 */
#ifndef KEYHOLE_PROFILE_FORMAT_OUTPUT_H
#define KEYHOLE_PROFILE_FORMAT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

#define OUTPUT_BUFFER_BYTES (64u << 10)

struct output {
	int fd;	       /* borrowed; the caller closes it */
	int r;	       /* the first error, a negative errno, or 0 */
	bool compress; /* stream is in use */
	z_stream stream;
	size_t used; /* of the buffer, in bytes */
	unsigned char *buffer;
};

/* Returns 0 or -ENOMEM. The caller releases the output either way. */
int output_init(struct output *output, int fd, bool compress);
void output_release(struct output *output); /* also of zeros; writes nothing */

/*
 * Writes fewer than 4 GiB at once: more bytes fail with -EFBIG. An error of zlib is -EIO, and so is
 * a write() that takes no byte.
 */
void output_write(struct output *output, const void *bytes, size_t size);
/* Writes a string without its NUL. */
void output_string(struct output *output, const char *string);
/* Notes an error of the caller, a negative errno, unless there was one before. */
void output_fail(struct output *output, int r);
/* Writes the rest, and returns 0 or the first error. The caller calls this once, at the end. */
int output_finish(struct output *output);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffered bytes to a descriptor, gzip compressed on the way if wanted. write() is the only system
 * call. The first error stays: later calls write nothing, and output_finish() returns the error.
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

/* Returns 0 or -ENOMEM; to be released either way. */
int output_init(struct output *output, int fd, bool compress);
void output_release(struct output *output); /* also of zeros; writes nothing */

/* Writes bytes, fewer than 4 GiB at once: more are -EFBIG. */
void output_write(struct output *output, const void *bytes, size_t size);
/* Writes a string without its NUL. */
void output_string(struct output *output, const char *string);
/* Notes an error of the caller, a negative errno, unless there was one before. */
void output_fail(struct output *output, int r);
/* Writes the rest. Call it once, at the end. Returns 0 or the first error. */
int output_finish(struct output *output);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffered bytes to a descriptor, gzip compressed on the way if wanted, with write() alone. Sticky
 * failure: after the first error nothing more is written and output_finish() returns it.
 */
#ifndef KEYHOLE_PROFILE_FORMAT_OUTPUT_H
#define KEYHOLE_PROFILE_FORMAT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

#define OUTPUT_BUFFER_BYTES (64u << 10)

struct output {
	int fd;	       /* borrowed */
	int r;	       /* the first error, or 0 */
	bool compress; /* stream is in use */
	z_stream stream;
	size_t used; /* of the buffer */
	unsigned char *buffer;
};

/* Returns 0 or -ENOMEM; to be released either way. */
int output_init(struct output *output, int fd, bool compress);
void output_release(struct output *output); /* also of zeros */

void output_write(struct output *output, const void *bytes, size_t size);
void output_string(struct output *output, const char *string);
void output_fail(struct output *output, int r);
int output_finish(struct output *output); /* once; 0 or the first error */

#endif

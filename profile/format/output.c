/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/format/output.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The arguments of deflateInit2(), which zlib.h explains. */
#define GZIP_LEVEL	 Z_BEST_SPEED	  /* names repeat so much that level 1 packs most of them */
#define GZIP_WINDOW_BITS (MAX_WBITS + 16) /* 16 asks for a gzip header */
#define GZIP_MEMORY	 8		  /* zlib's default */

int output_init(struct output *output, int fd, bool compress)
{
	*output = (struct output){.fd = fd};
	output->buffer = malloc(OUTPUT_BUFFER_BYTES);
	if (!output->buffer)
		return -ENOMEM;
	if (!compress)
		return 0;
	if (deflateInit2(&output->stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	output->compress = true;
	return 0;
}

void output_release(struct output *output)
{
	if (output->compress)
		deflateEnd(&output->stream);
	free(output->buffer);
}

void output_fail(struct output *output, int r)
{
	if (output->r == 0)
		output->r = r;
}

static void flush(struct output *output)
{
	const unsigned char *from = output->buffer;
	ssize_t written;

	while (output->used > 0 && output->r == 0) {
		written = write(output->fd, from, output->used);
		if (written < 0) {
			if (errno != EINTR)
				output_fail(output, -errno);
			continue;
		}
		if (written == 0)
			output_fail(output, -EIO);
		from += written;
		output->used -= (size_t)written;
	}
}

/* Returns whether deflate() has more to do: at the end (Z_FINISH), its status says so. */
static bool has_more(const z_stream *stream, int mode, int status)
{
	if (mode == Z_FINISH)
		return status == Z_OK || status == Z_BUF_ERROR;
	return stream->avail_in > 0;
}

static void deflate_bytes(struct output *output, const void *bytes, size_t size, int mode)
{
	z_stream *stream = &output->stream;
	int status;

	stream->next_in = (z_const Bytef *)bytes;
	stream->avail_in = (uInt)size;
	do {
		stream->next_out = output->buffer + output->used;
		stream->avail_out = (uInt)(OUTPUT_BUFFER_BYTES - output->used);
		status = deflate(stream, mode);
		if (status < 0 && status != Z_BUF_ERROR)
			output_fail(output, -EIO);
		output->used = OUTPUT_BUFFER_BYTES - stream->avail_out;
		if (output->used == OUTPUT_BUFFER_BYTES)
			flush(output);
	} while (output->r == 0 && has_more(stream, mode, status));
}

static void copy(struct output *output, const unsigned char *bytes, size_t size)
{
	size_t piece;

	for (; size > 0 && output->r == 0; bytes += piece, size -= piece) {
		piece = OUTPUT_BUFFER_BYTES - output->used;
		if (piece > size)
			piece = size;
		memcpy(output->buffer + output->used, bytes, piece);
		output->used += piece;
		if (output->used == OUTPUT_BUFFER_BYTES)
			flush(output);
	}
}

void output_write(struct output *output, const void *bytes, size_t size)
{
	if (output->r < 0 || size == 0)
		return;
	if (size > UINT32_MAX)
		output_fail(output, -EFBIG);
	else if (output->compress)
		deflate_bytes(output, bytes, size, Z_NO_FLUSH);
	else
		copy(output, bytes, size);
}

void output_string(struct output *output, const char *string)
{
	output_write(output, string, strlen(string));
}

int output_finish(struct output *output)
{
	if (output->compress && output->r == 0)
		deflate_bytes(output, NULL, 0, Z_FINISH);
	flush(output);
	return output->r;
}

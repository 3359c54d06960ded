/* SPDX-License-Identifier: Apache-2.0 */
#include "top/stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

#include "worker/base/array.h"

#define GZIP_WINDOW_BITS (MAX_WBITS + 16) /* zlib.h, inflateInit2(): gzip alone */
#define PIECE_BYTES	 65536u

struct stream {
	z_stream z;
	unsigned char *bytes; /* of the profile that has begun */
	size_t size, capacity;
};

struct stream *stream_new(void)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	if (stream && inflateInit2(&stream->z, GZIP_WINDOW_BITS) != Z_OK) {
		free(stream);
		return NULL;
	}
	return stream;
}

void stream_free(struct stream *stream)
{
	if (!stream)
		return;
	inflateEnd(&stream->z);
	free(stream->bytes);
	free(stream);
}

static int inflate_piece(struct stream *stream, bool *ret_ended)
{
	int status;

	if (stream->size + PIECE_BYTES > STREAM_PROFILE_MAX)
		return -EFBIG;
	if (ARRAY_RESERVE(stream->bytes, stream->capacity, stream->size + PIECE_BYTES) < 0)
		return -ENOMEM;
	stream->z.next_out = stream->bytes + stream->size;
	stream->z.avail_out = PIECE_BYTES;
	status = inflate(&stream->z, Z_NO_FLUSH);
	stream->size += PIECE_BYTES - stream->z.avail_out;
	*ret_ended = status == Z_STREAM_END;
	if (status == Z_MEM_ERROR)
		return -ENOMEM;
	/* Z_BUF_ERROR: the input was used up */
	return status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR ? 0 : -EBADMSG;
}

int stream_feed(struct stream *stream, const unsigned char *bytes, size_t size, stream_take *take,
		void *context)
{
	bool ended = false, full = false;
	int r = 0;

	if (size > UINT32_MAX)
		return -EFBIG;
	stream->z.next_in = (unsigned char *)bytes;
	stream->z.avail_in = (unsigned int)size;
	while (r == 0 && (stream->z.avail_in > 0 || full)) {
		r = inflate_piece(stream, &ended);
		full = r == 0 && !ended && stream->z.avail_out == 0;
		if (r || !ended)
			continue;
		r = take(context, stream->bytes, stream->size);
		stream->size = 0;
		if (inflateReset(&stream->z) != Z_OK)
			return -EBADMSG;
	}
	return r;
}

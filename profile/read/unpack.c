/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/read/unpack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "ipc/guard.h"

#define READ_BYTES	 (256u << 10)
#define GZIP_WINDOW_BITS (MAX_WBITS + 16) /* zlib.h, inflateInit2(): gzip alone */

static const unsigned char gzip_magic[] = {0x1f, 0x8b};

struct unpack {
	int fd;
	unsigned char *bytes; /* so far */
	size_t size, capacity;
	unsigned char *input;
	size_t input_size;
};

/* Room for some more; -EFBIG at the limit. */
static int make_room(struct unpack *unpack)
{
	size_t grown = unpack->capacity ? unpack->capacity * 2 : 4 * READ_BYTES;
	unsigned char *moved;

	if (unpack->size < unpack->capacity)
		return 0;
	if (unpack->size >= UNPACK_BYTES_MAX)
		return -EFBIG;
	grown = grown < UNPACK_BYTES_MAX ? grown : UNPACK_BYTES_MAX;
	moved = realloc(unpack->bytes, grown);
	if (!moved)
		return -ENOMEM;
	unpack->bytes = moved;
	unpack->capacity = grown;
	return 0;
}

static int fill(struct unpack *unpack)
{
	ssize_t got;

	unpack->input_size = 0;
	while (unpack->input_size < READ_BYTES) {
		got = read(unpack->fd, unpack->input + unpack->input_size,
			   READ_BYTES - unpack->input_size);
		if (got == 0)
			break;
		if (got < 0 && errno != EINTR)
			return -errno;
		unpack->input_size += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

static int copy(struct unpack *unpack)
{
	const unsigned char *from;
	size_t left, piece;
	int r = 0;

	while (r == 0 && unpack->input_size > 0) {
		from = unpack->input;
		for (left = unpack->input_size; left > 0; left -= piece, from += piece) {
			r = make_room(unpack);
			if (r)
				return r;
			piece = unpack->capacity - unpack->size;
			piece = left < piece ? left : piece;
			memcpy(unpack->bytes + unpack->size, from, piece);
			unpack->size += piece;
		}
		r = fill(unpack);
	}
	return r;
}

/* Until the input is used up or a member of the file ends. */
static int inflate_some(struct unpack *unpack, z_stream *stream, bool *ended)
{
	int r, status = Z_OK;

	while (stream->avail_in > 0 && status == Z_OK) {
		r = make_room(unpack);
		if (r)
			return r;
		stream->next_out = unpack->bytes + unpack->size;
		stream->avail_out = (uInt)(unpack->capacity - unpack->size);
		status = inflate(stream, Z_NO_FLUSH);
		unpack->size = unpack->capacity - stream->avail_out;
	}
	*ended = status == Z_STREAM_END;
	return status == Z_OK || status == Z_STREAM_END ? 0
	       : status == Z_MEM_ERROR			? -ENOMEM
							: -EBADMSG;
}

/* Members that follow one another are one file (RFC 1952, section 2.2). */
static int inflate_all(struct unpack *unpack, z_stream *stream)
{
	bool ended = false;
	int r = 0;

	while (r == 0 && unpack->input_size > 0) {
		stream->next_in = unpack->input;
		stream->avail_in = (uInt)unpack->input_size;
		while (r == 0 && stream->avail_in > 0) {
			if (ended && inflateReset(stream) != Z_OK)
				return -EBADMSG;
			r = inflate_some(unpack, stream, &ended);
		}
		r = r ? r : fill(unpack);
	}
	return r ? r : ended ? 0 : -EBADMSG;
}

static int unpack_gzip(struct unpack *unpack)
{
	z_stream stream = {0};
	int r;

	if (inflateInit2(&stream, GZIP_WINDOW_BITS) != Z_OK)
		return -ENOMEM;
	r = inflate_all(unpack, &stream);
	inflateEnd(&stream);
	return r;
}

int unpack_file(int fd, unsigned char **ret_bytes, size_t *ret_size)
{
	guard_free unsigned char *input = malloc(READ_BYTES);
	struct unpack unpack = {.fd = fd, .input = input};
	int r = input ? fill(&unpack) : -ENOMEM;

	if (r == 0)
		r = unpack.input_size >= sizeof(gzip_magic) &&
				    !memcmp(input, gzip_magic, sizeof(gzip_magic))
			    ? unpack_gzip(&unpack)
			    : copy(&unpack);
	if (r == 0 && unpack.size == 0)
		r = -ENODATA;
	if (r) {
		free(unpack.bytes);
		return r;
	}
	*ret_bytes = unpack.bytes;
	*ret_size = unpack.size;
	return 0;
}

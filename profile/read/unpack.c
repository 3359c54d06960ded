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
#define FIRST_BYTES	 (4 * READ_BYTES)
#define GZIP_WINDOW_BITS (MAX_WBITS + 16) /* zlib.h, inflateInit2(): gzip alone */

static const unsigned char gzip_magic[] = {0x1f, 0x8b};

struct unpack {
	int fd;
	unsigned char *bytes; /* so far */
	size_t size, capacity;
	unsigned char *input;
	size_t input_size;
};

/* Makes room for one byte at least. Returns -EFBIG at the limit. */
static int make_room(struct unpack *unpack)
{
	size_t grown = unpack->capacity * 2;
	unsigned char *moved;

	if (unpack->size < unpack->capacity)
		return 0;
	if (unpack->size >= UNPACK_BYTES_MAX)
		return -EFBIG;
	if (grown == 0)
		grown = FIRST_BYTES;
	if (grown > UNPACK_BYTES_MAX)
		grown = UNPACK_BYTES_MAX;
	moved = realloc(unpack->bytes, grown);
	if (!moved)
		return -ENOMEM;
	unpack->bytes = moved;
	unpack->capacity = grown;
	return 0;
}

/* Reads the next piece of the file; input_size is 0 at its end. */
static int fill_input(struct unpack *unpack)
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
		if (got > 0)
			unpack->input_size += (size_t)got;
	}
	return 0;
}

static int copy_input(struct unpack *unpack)
{
	const unsigned char *from = unpack->input;
	size_t left = unpack->input_size, piece;
	int r;

	while (left > 0) {
		r = make_room(unpack);
		if (r < 0)
			return r;
		piece = unpack->capacity - unpack->size;
		if (piece > left)
			piece = left;
		memcpy(unpack->bytes + unpack->size, from, piece);
		unpack->size += piece;
		from += piece;
		left -= piece;
	}
	return 0;
}

static int copy_all(struct unpack *unpack)
{
	int r = 0;

	while (r == 0 && unpack->input_size > 0) {
		r = copy_input(unpack);
		if (r == 0)
			r = fill_input(unpack);
	}
	return r;
}

/* Inflates until the input is used up or a member of the file ends. */
static int inflate_some(struct unpack *unpack, z_stream *stream, bool *ret_ended)
{
	int r, status = Z_OK;

	while (stream->avail_in > 0 && status == Z_OK) {
		r = make_room(unpack);
		if (r < 0)
			return r;
		stream->next_out = unpack->bytes + unpack->size;
		stream->avail_out = (uInt)(unpack->capacity - unpack->size);
		status = inflate(stream, Z_NO_FLUSH);
		unpack->size = unpack->capacity - stream->avail_out;
	}
	*ret_ended = status == Z_STREAM_END;
	if (status == Z_MEM_ERROR)
		return -ENOMEM;
	if (status != Z_OK && status != Z_STREAM_END)
		return -EBADMSG;
	return 0;
}

/* Inflates all members that follow one another: they are one file (RFC 1952, section 2.2). */
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
		if (r == 0)
			r = fill_input(unpack);
	}
	if (r == 0 && !ended)
		return -EBADMSG;
	return r;
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

static bool is_gzip(const struct unpack *unpack)
{
	if (unpack->input_size < sizeof(gzip_magic))
		return false;
	return !memcmp(unpack->input, gzip_magic, sizeof(gzip_magic));
}

static int unpack_all(struct unpack *unpack)
{
	int r = fill_input(unpack);

	if (r < 0)
		return r;
	if (is_gzip(unpack))
		r = unpack_gzip(unpack);
	else
		r = copy_all(unpack);
	if (r == 0 && unpack->size == 0)
		return -ENODATA;
	return r;
}

int unpack_file(int fd, unsigned char **ret_bytes, size_t *ret_size)
{
	guard_free unsigned char *input = malloc(READ_BYTES);
	struct unpack unpack = {.fd = fd, .input = input};
	int r;

	if (!input)
		return -ENOMEM;
	r = unpack_all(&unpack);
	if (r < 0) {
		free(unpack.bytes);
		return r;
	}
	*ret_bytes = unpack.bytes;
	*ret_size = unpack.size;
	return 0;
}

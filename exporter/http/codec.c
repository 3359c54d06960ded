/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/http/codec.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

#define PIECE_BYTES 16384u
#define GZIP_WINDOW (15 + 16) /* zlib.h: 16 asks for gzip */
#define GZIP_LEVEL  1
#define GZIP_MEMORY 8
#define ZSTD_LEVEL  1
/* zstd.h, ZSTD_d_windowLogMax: 8 MiB, as much as RFC 8878 recommends to support. */
#define ZSTD_WINDOW_LOG 23

static const char *const names[CODECS] = {
	[CODEC_IDENTITY] = "identity",
	[CODEC_GZIP] = "gzip",
	[CODEC_ZSTD] = "zstd",
};

const char *codec_name(enum codec codec)
{
	return names[codec];
}

enum codec codec_find(const char *name, size_t size)
{
	for (unsigned int i = 0; i < CODECS; i++)
		if (strlen(names[i]) == size && strncasecmp(names[i], name, size) == 0)
			return (enum codec)i;
	return CODEC_UNKNOWN;
}

/* ---- gzip ---- */

static int gzip_pack(const void *bytes, size_t size, struct buffer *buffer)
{
	uint8_t piece[PIECE_BYTES];
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size};
	int r;

	if (size > UINT32_MAX)
		return -EFBIG;
	if (deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	do {
		stream.next_out = piece;
		stream.avail_out = sizeof(piece);
		r = deflate(&stream, Z_FINISH);
		buffer_put(buffer, piece, sizeof(piece) - stream.avail_out);
	} while (r == Z_OK && !buffer->error);
	deflateEnd(&stream);
	return buffer->error;
}

static int gzip_unpack(const void *bytes, size_t size, struct buffer *buffer)
{
	uint8_t piece[PIECE_BYTES];
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size};
	int r;

	if (size > UINT32_MAX)
		return -EFBIG;
	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return -ENOMEM;
	do {
		stream.next_out = piece;
		stream.avail_out = sizeof(piece);
		r = inflate(&stream, Z_NO_FLUSH);
		buffer_put(buffer, piece, sizeof(piece) - stream.avail_out);
	} while (r == Z_OK && !buffer->error);
	inflateEnd(&stream);
	if (buffer->error)
		return buffer->error;
	if (r == Z_MEM_ERROR)
		return -ENOMEM;
	if (r != Z_STREAM_END || stream.avail_in > 0)
		return -EBADMSG;
	return 0;
}

/* ---- Zstandard ---- */

static int zstd_pack(const void *bytes, size_t size, struct buffer *buffer)
{
	uint8_t piece[PIECE_BYTES];
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_inBuffer in = {bytes, size, 0};
	size_t left;

	if (!context)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setPledgedSrcSize(context, size);
	do {
		ZSTD_outBuffer out = {piece, sizeof(piece), 0};

		left = ZSTD_compressStream2(context, &out, &in, ZSTD_e_end);
		if (ZSTD_isError(left))
			break;
		buffer_put(buffer, piece, out.pos);
	} while (left > 0 && !buffer->error);
	ZSTD_freeCCtx(context);
	if (ZSTD_isError(left))
		return -ENOMEM;
	return buffer->error;
}

static int zstd_unpack_with(ZSTD_DCtx *context, const void *bytes, size_t size,
			    struct buffer *buffer)
{
	uint8_t piece[PIECE_BYTES];
	ZSTD_inBuffer in = {bytes, size, 0};
	ZSTD_outBuffer out;
	size_t left;

	if (ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG)))
		return -ENOMEM;
	do {
		out = (ZSTD_outBuffer){piece, sizeof(piece), 0};
		left = ZSTD_decompressStream(context, &out, &in);
		if (ZSTD_isError(left))
			return -EBADMSG;
		buffer_put(buffer, piece, out.pos);
	} while (left > 0 && (in.pos < in.size || out.pos == out.size) && !buffer->error);
	if (buffer->error)
		return buffer->error;
	if (left > 0 || in.pos < in.size)
		return -EBADMSG;
	return 0;
}

static int zstd_unpack(const void *bytes, size_t size, struct buffer *buffer)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	int r;

	if (!context)
		return -ENOMEM;
	r = zstd_unpack_with(context, bytes, size, buffer);
	ZSTD_freeDCtx(context);
	return r;
}

/* ---- all ---- */

static int copy(const void *bytes, size_t size, struct buffer *buffer)
{
	buffer_put(buffer, bytes, size);
	return buffer->error;
}

static const struct {
	int (*pack)(const void *bytes, size_t size, struct buffer *buffer);
	int (*unpack)(const void *bytes, size_t size, struct buffer *buffer);
} codecs[CODECS] = {
	[CODEC_IDENTITY] = {copy, copy},
	[CODEC_GZIP] = {gzip_pack, gzip_unpack},
	[CODEC_ZSTD] = {zstd_pack, zstd_unpack},
};

int codec_pack(enum codec codec, const void *bytes, size_t size, struct buffer *buffer)
{
	return codecs[codec].pack(bytes, size, buffer);
}

int codec_unpack(enum codec codec, const void *bytes, size_t size, struct buffer *buffer)
{
	if (codec >= CODECS)
		return -ENOTSUP;
	return codecs[codec].unpack(bytes, size, buffer);
}

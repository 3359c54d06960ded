/* SPDX-License-Identifier: Apache-2.0 */
/* Compression of requests and answers: gzip (RFC 1952) and Zstandard (RFC 8878). */
#ifndef KEYHOLE_EXPORTER_HTTP_CODEC_H
#define KEYHOLE_EXPORTER_HTTP_CODEC_H

#include <stddef.h>

#include "exporter/otlp/buffer.h"

enum codec {
	CODEC_IDENTITY,
	CODEC_GZIP,
	CODEC_ZSTD,
	CODECS,
	CODEC_UNKNOWN = CODECS /* of an answer */
};

/* Returns the name in headers, which HTTP and gRPC share, of a codec below CODECS. */
const char *codec_name(enum codec codec);
/* Finds the codec by a name that need not end with a NUL. */
enum codec codec_find(const char *name, size_t size);

/* Appends the compressed bytes to the buffer. Returns 0, -EFBIG (the buffer's limit) or -ENOMEM. */
int codec_pack(enum codec codec, const void *bytes, size_t size, struct buffer *buffer);
/*
 * Appends what the bytes of a server unpack to. Returns 0, -EBADMSG for bytes that end early, go
 * on or are no such format, -ENOTSUP for CODEC_UNKNOWN, -EFBIG (the buffer's limit) or -ENOMEM.
 */
int codec_unpack(enum codec codec, const void *bytes, size_t size, struct buffer *buffer);

#endif

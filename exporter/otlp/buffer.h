/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that are written one behind another up to a limit, among them fields of protobuf's wire
 * format (protobuf's encoding guide; base/wire.h reads it).
 */
#ifndef KEYHOLE_EXPORTER_OTLP_BUFFER_H
#define KEYHOLE_EXPORTER_OTLP_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "base/wire.h"

struct buffer {
	uint8_t *bytes; /* the buffer's own; NULL is fine */
	size_t size, capacity;
	size_t limit; /* of size */
	int error;    /* 0, -ENOMEM or -EFBIG; sticky: nothing more is written */
};

/* Makes the buffer empty and keeps its memory. */
void buffer_reset(struct buffer *buffer, size_t limit);
void buffer_release(struct buffer *buffer);

void buffer_put(struct buffer *buffer, const void *bytes, size_t size);
void buffer_put_varint(struct buffer *buffer, uint64_t value);
void buffer_put_tag(struct buffer *buffer, uint32_t number, enum wire_type type);

/*
 * Begins a field of WIRE_BYTES, whose content follows. Returns where the content begins, for
 * buffer_close(), which puts the length before it.
 */
size_t buffer_open(struct buffer *buffer, uint32_t number);
void buffer_close(struct buffer *buffer, size_t start);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf's wire format (protobuf.dev, "Encoding"): fields one behind another, each with a tag. A
 * message is read through the bounded reader. A buffer takes what is written, up to a limit.
 */
#ifndef KEYHOLE_EXPORTER_OTLP_WIRE_H
#define KEYHOLE_EXPORTER_OTLP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reader.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_FIXED32 = 5
};

struct wire_field {
	uint32_t number;
	enum wire_type type;
	uint64_t value;	      /* of a varint or a fixed number */
	struct reader bytes;  /* of WIRE_BYTES */
	const uint8_t *start; /* of the tag */
	size_t size;	      /* of the field with its tag */
};

/*
 * Reads the next field. Returns false behind the last field, and for bytes that are no field:
 * reader_failed() tells. Groups, which proto3 does not have, are no fields.
 */
bool wire_next(struct reader *reader, struct wire_field *ret_field);

struct wire_buffer {
	uint8_t *bytes; /* the buffer's own; NULL is fine */
	size_t size, capacity;
	size_t limit; /* of size */
	int error;    /* 0, -ENOMEM or -EFBIG; sticky: nothing more is written */
};

/* Makes the buffer empty and keeps its memory. */
void wire_reset(struct wire_buffer *buffer, size_t limit);
void wire_release(struct wire_buffer *buffer);

void wire_put_bytes(struct wire_buffer *buffer, const void *bytes, size_t size);
void wire_put_varint(struct wire_buffer *buffer, uint64_t value);
void wire_put_tag(struct wire_buffer *buffer, uint32_t number, enum wire_type type);

/*
 * Begins a field of WIRE_BYTES, whose content follows. Returns where the content begins, for
 * wire_close(), which puts the length before it.
 */
size_t wire_open(struct wire_buffer *buffer, uint32_t number);
void wire_close(struct wire_buffer *buffer, size_t start);

#endif

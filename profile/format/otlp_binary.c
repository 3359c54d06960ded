/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes OTLP profiles as protobuf: messages and strings one behind another, each with its tag and
 * its length before it.
 */
#include "profile/format/format.h"
#include "profile/format/otlp.h"

#define WIRE_BYTES 2u /* wire type of strings and messages */

static void put_bytes(struct otlp *otlp, const void *bytes, size_t size)
{
	if (otlp->measuring)
		otlp->measured += size;
	else
		output_write(&otlp->output, bytes, size);
}

static void put_varint(struct otlp *otlp, uint64_t number)
{
	uint8_t bytes[10];
	size_t size = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[size++] = (uint8_t)(number | 0x80);
	bytes[size++] = (uint8_t)number;
	put_bytes(otlp, bytes, size);
}

static bool open_message(struct otlp *otlp, const ProtobufCFieldDescriptor *field, uint64_t length)
{
	put_varint(otlp, field->id << 3 | WIRE_BYTES);
	put_varint(otlp, length);
	if (otlp->measuring)
		otlp->measured += length;
	return !otlp->measuring;
}

static void put_fields(struct otlp *otlp, const ProtobufCMessage *message)
{
	size_t size;
	const uint8_t *packed = otlp_pack(otlp, message, &size);

	if (packed)
		put_bytes(otlp, packed, size);
}

static void put_element(struct otlp *otlp, const ProtobufCFieldDescriptor *field, const void *bytes,
			size_t size)
{
	if (open_message(otlp, field, size))
		put_bytes(otlp, bytes, size);
}

static void put_nothing(struct otlp *otlp)
{
	(void)otlp;
}

/* The elements of a repeated field follow one another: each has the field's tag. */
static void open_array(struct otlp *otlp, const ProtobufCFieldDescriptor *field)
{
	(void)otlp;
	(void)field;
}

static const struct otlp_encoding encoding = {
	.measures = true,
	.begin = put_nothing,
	.end = put_nothing,
	.open = open_message,
	.close = put_nothing,
	.array = open_array,
	.fields = put_fields,
	.element = put_element,
};

static int render(const struct profile *profile, const struct profile_times *times,
		  const struct format_options *options, int fd)
{
	return otlp_render(profile, times, options, &encoding, fd);
}

const struct format format_otlp = {
	.wants_times = true,
	.wants_details = true,
	.skips_empty = true,
	.render = render,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* OTLP profiles on the wire: fields, each with its length before it, one behind another. */
#include <string.h>

#include "ipc/messages.h"
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

static bool binary_open(struct otlp *otlp, struct otlp_field field, uint64_t length)
{
	put_varint(otlp, field.number << 3 | WIRE_BYTES);
	put_varint(otlp, length);
	if (otlp->measuring)
		otlp->measured += length;
	return !otlp->measuring;
}

static void binary_fields(struct otlp *otlp, const ProtobufCMessage *message)
{
	size_t size;
	const uint8_t *packed = otlp_pack(otlp, message, &size);

	if (packed)
		put_bytes(otlp, packed, size);
}

static void binary_packed(struct otlp *otlp, struct otlp_field field,
			  const ProtobufCMessageDescriptor *descriptor, const void *bytes,
			  size_t size)
{
	(void)descriptor;
	if (binary_open(otlp, field, size))
		put_bytes(otlp, bytes, size);
}

static void binary_string(struct otlp *otlp, struct otlp_field field, const char *string)
{
	binary_packed(otlp, field, NULL, string, strlen(string));
}

static void binary_message(struct otlp *otlp, struct otlp_field field,
			   const ProtobufCMessage *message)
{
	size_t size;
	const uint8_t *packed = otlp_pack(otlp, message, &size);

	if (packed)
		binary_packed(otlp, field, NULL, packed, size);
}

static const struct otlp_encoding otlp_binary = {
	.measures = true,
	.open = binary_open,
	.fields = binary_fields,
	.string = binary_string,
	.message = binary_message,
	.packed = binary_packed,
};

static int otlp_render_binary(const struct profile *profile, const struct profile_times *times,
			      const struct format_options *options, int fd)
{
	(void)options; /* threads are attributes, always */
	return otlp_render(profile, times, &otlp_binary, fd);
}

const struct format format_otlp = {
	FORMAT_ROW(otlp),
	.render = otlp_render_binary,
};

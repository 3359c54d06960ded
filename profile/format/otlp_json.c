/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes OTLP profiles as JSON: the same messages, by protobuf's mapping to JSON. Names are in
 * camel case, 64-bit integers are strings, and fields that are 0 are left out. The output is one
 * line, as OTLP's file exporters write it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "ipc/messages.h"
#include "profile/format/format.h"
#include "profile/format/otlp.h"

#define KEY_MAX 64u /* bytes, with the NUL; no field has a longer name */

static void put_fields(struct otlp *otlp, const ProtobufCMessage *message);

static void put_key(struct otlp *otlp, const char *name)
{
	char key[KEY_MAX];
	size_t used = 0;

	for (; *name && used + 1 < sizeof(key); name++) {
		if (*name == '_' && name[1] >= 'a' && name[1] <= 'z')
			key[used++] = (char)(*++name - 'a' + 'A');
		else
			key[used++] = *name;
	}
	key[used] = '\0';
	json_key(&otlp->json, key);
}

static void put_signed(struct otlp *otlp, int64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "\"%" PRId64 "\"", number);
	json_literal(&otlp->json, text);
}

static void put_unsigned(struct otlp *otlp, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "\"%" PRIu64 "\"", number);
	json_literal(&otlp->json, text);
}

/* Writes a value of one of the types that our fields have; other types are -EPROTO. */
static void put_value(struct otlp *otlp, ProtobufCType type, const void *value)
{
	switch (type) {
	case PROTOBUF_C_TYPE_INT32:
		json_signed(&otlp->json, *(const int32_t *)value);
		break;
	case PROTOBUF_C_TYPE_INT64:
		put_signed(otlp, *(const int64_t *)value);
		break;
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		put_unsigned(otlp, *(const uint64_t *)value);
		break;
	case PROTOBUF_C_TYPE_STRING:
		json_clean_string(&otlp->json, *(const char *const *)value);
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		json_object(&otlp->json);
		put_fields(otlp, *(const ProtobufCMessage *const *)value);
		json_end(&otlp->json);
		break;
	default:
		output_fail(&otlp->output, -EPROTO);
	}
}

/* Returns the size of an element of a repeated field, in memory. */
static size_t size_of(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_INT32:
		return sizeof(int32_t);
	case PROTOBUF_C_TYPE_MESSAGE:
	case PROTOBUF_C_TYPE_STRING:
		return sizeof(void *);
	default:
		return sizeof(uint64_t);
	}
}

/* Returns whether the field has a value that is not 0 or empty. */
static bool is_set(const ProtobufCFieldDescriptor *field, const ProtobufCMessage *message)
{
	const char *base = (const char *)message;
	const void *value = base + field->offset;

	if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		return *(const uint32_t *)(base + field->quantifier_offset) == field->id;
	switch (field->type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_UINT32:
		return *(const uint32_t *)value != 0;
	case PROTOBUF_C_TYPE_STRING:
		return *(const char *const *)value && **(const char *const *)value;
	case PROTOBUF_C_TYPE_MESSAGE:
		return *(const void *const *)value;
	case PROTOBUF_C_TYPE_BYTES:
		return ((const ProtobufCBinaryData *)value)->len > 0;
	default:
		return *(const uint64_t *)value != 0;
	}
}

static void put_repeated(struct otlp *otlp, const ProtobufCFieldDescriptor *field,
			 const ProtobufCMessage *message)
{
	const char *base = (const char *)message;
	size_t count = *(const size_t *)(base + field->quantifier_offset);
	const char *values = *(const char *const *)(base + field->offset);

	if (count == 0)
		return;
	put_key(otlp, field->name);
	json_array(&otlp->json);
	for (; count > 0; count--, values += size_of(field->type))
		put_value(otlp, field->type, values);
	json_end(&otlp->json);
}

static void put_fields(struct otlp *otlp, const ProtobufCMessage *message)
{
	for (unsigned int i = 0; i < message->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];

		if (field->label == PROTOBUF_C_LABEL_REPEATED) {
			put_repeated(otlp, field, message);
		} else if (is_set(field, message)) {
			put_key(otlp, field->name);
			put_value(otlp, field->type, (const char *)message + field->offset);
		}
	}
}

static void begin_all(struct otlp *otlp)
{
	json_object(&otlp->json);
}

static void end_all(struct otlp *otlp)
{
	json_end(&otlp->json);
	json_finish(&otlp->json);
}

/* Opens a message; the element of an array has no key. */
static bool open_message(struct otlp *otlp, struct otlp_field field, uint64_t length)
{
	(void)length;
	if (!json_in_array(&otlp->json))
		json_key(&otlp->json, field.name);
	json_object(&otlp->json);
	return true;
}

static void close_last(struct otlp *otlp)
{
	json_end(&otlp->json);
}

static void open_array(struct otlp *otlp, struct otlp_field field)
{
	json_key_array(&otlp->json, field.name);
}

static void put_string(struct otlp *otlp, struct otlp_field field, const char *clean)
{
	(void)field; /* the element of an array has no key */
	json_clean_string(&otlp->json, clean);
}

static void put_message(struct otlp *otlp, struct otlp_field field, const ProtobufCMessage *message)
{
	open_message(otlp, field, 0);
	put_fields(otlp, message);
	json_end(&otlp->json);
}

static void put_packed(struct otlp *otlp, struct otlp_field field,
		       const ProtobufCMessageDescriptor *descriptor, const void *bytes, size_t size)
{
	ProtobufCMessage *message = protobuf_c_message_unpack(descriptor, NULL, size, bytes);

	if (!message) {
		output_fail(&otlp->output, -ENOMEM);
		return;
	}
	put_message(otlp, field, message);
	protobuf_c_message_free_unpacked(message, NULL);
}

static const struct otlp_encoding encoding = {
	.begin = begin_all,
	.end = end_all,
	.open = open_message,
	.close = close_last,
	.array = open_array,
	.fields = put_fields,
	.string = put_string,
	.message = put_message,
	.packed = put_packed,
};

static int render(const struct profile *profile, const struct profile_times *times,
		  const struct format_options *options, int fd)
{
	(void)options; /* threads are attributes, always */
	return otlp_render(profile, times, &encoding, fd);
}

const struct format format_otlp_json = {
	FORMAT_ROW(otlp_json),
	.render = render,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes OTLP profiles as JSON: the same messages, by protobuf's mapping to JSON. Names are in
 * camel case, 64-bit integers are strings, and fields that are 0 are left out. The output is one
 * line, as OTLP's file exporters write it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "profile/format/format.h"
#include "profile/format/otlp.h"

#define KEY_MAX	     64u /* bytes, with the NUL; no field has a longer name */
#define ID_BYTES_MAX 16u /* of a trace */

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

/* ---- types of fields; `value` points to the value in the message ---- */

static void put_int32(struct otlp *otlp, const void *value)
{
	json_signed(&otlp->json, *(const int32_t *)value);
}

static void put_uint32(struct otlp *otlp, const void *value)
{
	json_number(&otlp->json, *(const uint32_t *)value);
}

static void put_int64(struct otlp *otlp, const void *value)
{
	char text[32];

	snprintf(text, sizeof(text), "\"%" PRId64 "\"", *(const int64_t *)value);
	json_literal(&otlp->json, text);
}

static void put_uint64(struct otlp *otlp, const void *value)
{
	char text[32];

	snprintf(text, sizeof(text), "\"%" PRIu64 "\"", *(const uint64_t *)value);
	json_literal(&otlp->json, text);
}

static void put_text(struct otlp *otlp, const void *value)
{
	json_clean_string(&otlp->json, *(const char *const *)value);
}

/* The ids of traces and spans: OTLP's JSON has them as hexadecimal digits, and not as base64. */
static void put_bytes(struct otlp *otlp, const void *value)
{
	const ProtobufCBinaryData *data = value;
	char text[2 * ID_BYTES_MAX + 1];
	size_t used = 0;

	for (size_t i = 0; i < data->len && used + 2 < sizeof(text); i++, used += 2)
		snprintf(text + used, sizeof(text) - used, "%02x", data->data[i]);
	json_clean_string(&otlp->json, text);
}

static void put_object(struct otlp *otlp, const void *value)
{
	json_object(&otlp->json);
	put_fields(otlp, *(const ProtobufCMessage *const *)value);
	json_end(&otlp->json);
}

static bool is_32_set(const void *value)
{
	return *(const uint32_t *)value != 0;
}

static bool is_64_set(const void *value)
{
	return *(const uint64_t *)value != 0;
}

static bool is_text_set(const void *value)
{
	const char *text = *(const char *const *)value;

	return text && *text;
}

static bool is_object_set(const void *value)
{
	return *(const void *const *)value;
}

static bool is_bytes_set(const void *value)
{
	return ((const ProtobufCBinaryData *)value)->len > 0;
}

/*
 * The types of proto/otlp.proto. Our messages never set a double or a bool: no put().
 * Doubles and bools are members of a oneof alone, for which put_single() does not ask is_set().
 */
static const struct type {
	size_t size;			   /* of a value in the message */
	bool (*is_set)(const void *value); /* whether the value is neither 0 nor empty */
	void (*put)(struct otlp *otlp, const void *value);
} types[] = {
	[PROTOBUF_C_TYPE_INT32] = {sizeof(int32_t), is_32_set, put_int32},
	[PROTOBUF_C_TYPE_UINT32] = {sizeof(uint32_t), is_32_set, put_uint32},
	[PROTOBUF_C_TYPE_INT64] = {sizeof(int64_t), is_64_set, put_int64},
	[PROTOBUF_C_TYPE_UINT64] = {sizeof(uint64_t), is_64_set, put_uint64},
	[PROTOBUF_C_TYPE_FIXED64] = {sizeof(uint64_t), is_64_set, put_uint64},
	[PROTOBUF_C_TYPE_DOUBLE] = {sizeof(double), NULL, NULL},
	[PROTOBUF_C_TYPE_BOOL] = {sizeof(protobuf_c_boolean), NULL, NULL},
	[PROTOBUF_C_TYPE_STRING] = {sizeof(char *), is_text_set, put_text},
	[PROTOBUF_C_TYPE_BYTES] = {sizeof(ProtobufCBinaryData), is_bytes_set, put_bytes},
	[PROTOBUF_C_TYPE_MESSAGE] = {sizeof(void *), is_object_set, put_object},
};

/* Returns the row of a field's type, or NULL for a type that no field of proto/otlp.proto has. */
static const struct type *type_of(const ProtobufCFieldDescriptor *field)
{
	if (field->type >= sizeof(types) / sizeof(types[0]) || types[field->type].size == 0)
		return NULL;
	return &types[field->type];
}

static void put_value(struct otlp *otlp, const struct type *type, const void *value)
{
	if (type->put)
		type->put(otlp, value);
	else
		output_fail(&otlp->output, -EPROTO);
}

/* ---- messages ---- */

static bool is_chosen(const ProtobufCFieldDescriptor *field, const ProtobufCMessage *message)
{
	const char *base = (const char *)message;

	return *(const uint32_t *)(base + field->quantifier_offset) == field->id;
}

/* Writes a field that has one value. A member of a oneof is written even where the value is 0. */
static void put_single(struct otlp *otlp, const ProtobufCFieldDescriptor *field,
		       const struct type *type, const ProtobufCMessage *message)
{
	const void *value = (const char *)message + field->offset;
	bool set;

	if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		set = is_chosen(field, message);
	else
		set = type->is_set(value);
	if (!set)
		return;
	put_key(otlp, field->name);
	put_value(otlp, type, value);
}

static void put_repeated(struct otlp *otlp, const ProtobufCFieldDescriptor *field,
			 const struct type *type, const ProtobufCMessage *message)
{
	const char *base = (const char *)message;
	size_t count = *(const size_t *)(base + field->quantifier_offset);
	const char *values = *(const char *const *)(base + field->offset);

	if (count == 0)
		return;
	put_key(otlp, field->name);
	json_array(&otlp->json);
	for (; count > 0; count--, values += type->size)
		put_value(otlp, type, values);
	json_end(&otlp->json);
}

static void put_fields(struct otlp *otlp, const ProtobufCMessage *message)
{
	for (unsigned int i = 0; i < message->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
		const struct type *type = type_of(field);

		if (!type)
			output_fail(&otlp->output, -EPROTO);
		else if (field->label == PROTOBUF_C_LABEL_REPEATED)
			put_repeated(otlp, field, type, message);
		else
			put_single(otlp, field, type, message);
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
static bool open_message(struct otlp *otlp, const ProtobufCFieldDescriptor *field, uint64_t length)
{
	(void)length;
	if (!json_in_array(&otlp->json))
		put_key(otlp, field->name);
	json_object(&otlp->json);
	return true;
}

static void close_last(struct otlp *otlp)
{
	json_end(&otlp->json);
}

static void open_array(struct otlp *otlp, const ProtobufCFieldDescriptor *field)
{
	put_key(otlp, field->name);
	json_array(&otlp->json);
}

static void put_element(struct otlp *otlp, const ProtobufCFieldDescriptor *field, const void *bytes,
			size_t size)
{
	ProtobufCMessage *message;

	if (field->type == PROTOBUF_C_TYPE_STRING) {
		json_clean_string(&otlp->json, bytes);
		return;
	}
	message = protobuf_c_message_unpack(field->descriptor, NULL, size, bytes);
	if (!message) {
		output_fail(&otlp->output, -ENOMEM);
		return;
	}
	otlp_message(otlp, field, message);
	protobuf_c_message_free_unpacked(message, NULL);
}

static const struct otlp_encoding encoding = {
	.begin = begin_all,
	.end = end_all,
	.open = open_message,
	.close = close_last,
	.array = open_array,
	.fields = put_fields,
	.element = put_element,
};

static int render(const struct profile *profile, const struct profile_times *times,
		  const struct format_options *options, int fd)
{
	return otlp_render(profile, times, options, &encoding, fd);
}

const struct format format_otlp_json = {
	.wants_times = true,
	.wants_details = true,
	.skips_empty = true,
	.render = render,
};

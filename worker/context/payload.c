/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/context/payload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/wire.h"
#include "worker/context/attributes.h"

#define NUMBER_BYTES 32 /* more than a number of 64 bits, or a double of 17 digits, has */

/* Fields of ProcessContext, Resource, KeyValue and AnyValue. */
#define CONTEXT_RESOURCE    1
#define RESOURCE_ATTRIBUTES 1
#define PAIR_KEY	    1
#define PAIR_VALUE	    2
#define VALUE_STRING	    1
#define VALUE_BOOL	    2
#define VALUE_INT	    3
#define VALUE_DOUBLE	    4

static void add(struct attributes *attributes, const struct reader *key, const char *value,
		size_t size)
{
	attributes_add(attributes, (const char *)key->position, reader_left(key), value, size);
}

static void add_number(struct attributes *attributes, const struct reader *key,
		       const struct wire *number)
{
	char text[NUMBER_BYTES];
	double real;

	memcpy(&real, &number->value, sizeof(real));
	if (number->field == VALUE_INT)
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)number->value);
	else if (number->field == VALUE_BOOL)
		snprintf(text, sizeof(text), "%s", number->value ? "true" : "false");
	else
		snprintf(text, sizeof(text), "%.17g", real);
	add(attributes, key, text, strlen(text));
}

/* The last field of a value counts, as protobuf has it. */
static void add_value(struct attributes *attributes, const struct reader *key, struct reader *value)
{
	struct wire field, last = {0};

	while (wire_next(value, &field))
		last = field;
	if (last.field == VALUE_STRING && last.type == WIRE_BYTES)
		add(attributes, key, (const char *)last.bytes.position, reader_left(&last.bytes));
	else if ((last.field == VALUE_BOOL || last.field == VALUE_INT) && last.type == WIRE_VARINT)
		add_number(attributes, key, &last);
	else if (last.field == VALUE_DOUBLE && last.type == WIRE_FIXED64)
		add_number(attributes, key, &last);
}

static int read_pair(struct reader *pair, struct attributes *attributes)
{
	struct reader key = {0}, value = {0};
	struct wire field;

	while (wire_next(pair, &field)) {
		if (field.type != WIRE_BYTES)
			continue;
		if (field.field == PAIR_KEY)
			key = field.bytes;
		else if (field.field == PAIR_VALUE)
			value = field.bytes;
	}
	if (reader_failed(pair))
		return -EBADMSG;
	if (reader_left(&key) > 0 && reader_left(&value) > 0)
		add_value(attributes, &key, &value);
	if (reader_failed(&value))
		return -EBADMSG;
	return 0;
}

static int read_resource(struct reader *resource, struct attributes *attributes)
{
	struct wire field;
	int r = 0;

	while (r == 0 && wire_next(resource, &field))
		if (field.field == RESOURCE_ATTRIBUTES && field.type == WIRE_BYTES)
			r = read_pair(&field.bytes, attributes);
	if (reader_failed(resource))
		return -EBADMSG;
	return r;
}

int payload_read(const void *bytes, size_t size, struct attributes *attributes)
{
	struct reader context;
	struct wire field;
	int r = 0;

	reader_init(&context, bytes, size);
	while (r == 0 && wire_next(&context, &field))
		if (field.field == CONTEXT_RESOURCE && field.type == WIRE_BYTES)
			r = read_resource(&field.bytes, attributes);
	if (reader_failed(&context))
		return -EBADMSG;
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/metrics/otlp_fields.h"

#include <string.h>

#include "generated/version.h"
#include "ipc/time.h"

void otlp_put_text(struct buffer *buffer, uint32_t field, const char *text)
{
	const size_t start = buffer_open(buffer, field);

	buffer_put(buffer, text, strlen(text));
	buffer_close(buffer, start);
}

void otlp_put_fixed64(struct buffer *buffer, uint32_t field, uint64_t value)
{
	uint8_t bytes[sizeof(value)];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	buffer_put_tag(buffer, field, WIRE_FIXED64);
	buffer_put(buffer, bytes, sizeof(bytes));
}

void otlp_put_double(struct buffer *buffer, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	otlp_put_fixed64(buffer, field, bits);
}

void otlp_put_number(struct buffer *buffer, uint32_t field, uint64_t value)
{
	buffer_put_tag(buffer, field, WIRE_VARINT);
	buffer_put_varint(buffer, value);
}

/* A key and its value, while the value is written: where both messages begin. */
struct attribute {
	size_t pair, any;
};

static struct attribute open_attribute(struct buffer *buffer, uint32_t field, const char *key)
{
	struct attribute attribute = {.pair = buffer_open(buffer, field)};

	otlp_put_text(buffer, PAIR_KEY, key);
	attribute.any = buffer_open(buffer, PAIR_VALUE);
	return attribute;
}

static void close_attribute(struct buffer *buffer, struct attribute attribute)
{
	buffer_close(buffer, attribute.any);
	buffer_close(buffer, attribute.pair);
}

void otlp_put_attribute(struct buffer *buffer, uint32_t field, const char *key, const char *value)
{
	const struct attribute attribute = open_attribute(buffer, field, key);

	otlp_put_text(buffer, ANY_STRING, value);
	close_attribute(buffer, attribute);
}

void otlp_put_int_attribute(struct buffer *buffer, uint32_t field, const char *key, uint64_t value)
{
	const struct attribute attribute = open_attribute(buffer, field, key);

	otlp_put_number(buffer, ANY_INT, value);
	close_attribute(buffer, attribute);
}

void otlp_put_value(struct buffer *buffer, enum metric_unit unit, uint64_t number)
{
	if (unit == UNIT_SECONDS || unit == UNIT_RATIO)
		otlp_put_double(buffer, POINT_DOUBLE, (double)number / (double)NS_PER_SECOND);
	else
		otlp_put_fixed64(buffer, POINT_INT, number);
}

void otlp_put_scope(struct buffer *buffer)
{
	const size_t scope = buffer_open(buffer, SCOPE_METRICS_SCOPE);

	otlp_put_text(buffer, SCOPE_NAME, "keyhole");
	otlp_put_text(buffer, SCOPE_VERSION, KEYHOLE_VERSION);
	buffer_close(buffer, scope);
}

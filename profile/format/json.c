/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/format/json.h"

#include <errno.h>
#include <string.h>

#include "profile/format/names.h"
#include "profile/format/output.h"

#define DIGITS_MAX     20 /* of 64 bits */
#define INDENTED_DEPTH 2

void json_init(struct json *json, struct output *output)
{
	*json = (struct json){.output = output};
}

/*
 * Returns whether a value may come next. Only values within an object have keys, and a document has
 * one value.
 */
static bool is_expected(const struct json *json)
{
	char closer = json->open[json->depth];

	if (closer == '}')
		return json->key;
	return closer == ']' || !json->comma;
}

/* Indents the outer levels alone: indents of a deep tree would cost the square of its depth. */
static void break_line(struct json *json)
{
	output_write(json->output, "\n", 1);
	if (!json->readable || json->depth > INDENTED_DEPTH)
		return;
	for (unsigned int i = 0; i < json->depth; i++)
		output_string(json->output, "  ");
}

/* Writes the comma between two values, and the new line that json_line() has asked for. */
static void separate(struct json *json, bool comma)
{
	if (comma)
		output_write(json->output, ",", 1);
	if (json->line)
		break_line(json);
	else if (comma && json->readable)
		output_write(json->output, " ", 1);
	json->line = false;
}

static void begin_value(struct json *json)
{
	if (!is_expected(json))
		output_fail(json->output, -EPROTO);
	separate(json, json->comma && !json->key);
	json->comma = true;
	json->key = false;
}

static void open_value(struct json *json, const char *opener, char closer)
{
	begin_value(json);
	if (json->depth == JSON_DEPTH_MAX) {
		output_fail(json->output, -EPROTO);
		return;
	}
	output_write(json->output, opener, 1);
	json->open[++json->depth] = closer;
	json->comma = false;
}

void json_object(struct json *json)
{
	open_value(json, "{", '}');
}

void json_array(struct json *json)
{
	open_value(json, "[", ']');
}

void json_end(struct json *json)
{
	char closer;

	if (json->depth == 0 || json->key) {
		output_fail(json->output, -EPROTO);
		return;
	}
	closer = json->open[json->depth--];
	separate(json, false);
	output_write(json->output, &closer, 1);
	json->comma = true;
}

void json_finish(struct json *json)
{
	if (json->depth != 0 || !json->comma)
		output_fail(json->output, -EPROTO);
	output_write(json->output, "\n", 1);
}

void json_line(struct json *json)
{
	json->line = true;
}

bool json_in_array(const struct json *json)
{
	return json->open[json->depth] == ']';
}

void json_key(struct json *json, const char *key)
{
	if (json->open[json->depth] != '}' || json->key)
		output_fail(json->output, -EPROTO);
	separate(json, json->comma);
	output_write(json->output, "\"", 1);
	output_string(json->output, key);
	output_write(json->output, "\":", 2);
	if (json->readable)
		output_write(json->output, " ", 1);
	json->key = true;
}

/*
 * Returns the escape of a byte, or NULL. RFC 8259 section 7 asks for the first two. The other three
 * are for pages, where such a byte would end the element that holds the text.
 */
static const char *escape_of(const struct json *json, char byte)
{
	if (byte == '"')
		return "\\\"";
	if (byte == '\\')
		return "\\\\";
	if (json->readable)
		return NULL;
	switch (byte) {
	case '<':
		return "\\u003c";
	case '>':
		return "\\u003e";
	case '&':
		return "\\u0026";
	default:
		return NULL;
	}
}

void json_clean_string(struct json *json, const char *clean)
{
	const char *from = clean, *at = clean;

	begin_value(json);
	output_write(json->output, "\"", 1);
	for (; *at; at++) {
		const char *escape = escape_of(json, *at);

		if (!escape)
			continue;
		output_write(json->output, from, (size_t)(at - from));
		output_string(json->output, escape);
		from = at + 1;
	}
	output_write(json->output, from, (size_t)(at - from));
	output_write(json->output, "\"", 1);
}

void json_string(struct json *json, const char *raw)
{
	char clean[FORMAT_NAME_MAX];

	format_clean_name(clean, sizeof(clean), raw);
	json_clean_string(json, clean);
}

/* Writes at least `least` digits before the end of a buffer, and returns the first digit. */
static char *put_digits(char *end, uint64_t number, unsigned int least)
{
	char *at = end;

	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0 || (size_t)(end - at) < least);
	return at;
}

static void write_number(struct json *json, bool negative, uint64_t number)
{
	char text[DIGITS_MAX + 1], *at = put_digits(text + sizeof(text), number, 1);

	if (negative)
		*--at = '-';
	begin_value(json);
	output_write(json->output, at, (size_t)(text + sizeof(text) - at));
}

void json_number(struct json *json, uint64_t number)
{
	write_number(json, false, number);
}

void json_signed(struct json *json, int64_t number)
{
	if (number < 0)
		write_number(json, true, -(uint64_t)number);
	else
		write_number(json, false, (uint64_t)number);
}

void json_decimal(struct json *json, uint64_t number, unsigned int digits)
{
	char text[DIGITS_MAX];
	char *end = text + sizeof(text), *at;

	while (digits > 0 && number % 10 == 0) {
		number /= 10;
		digits--;
	}
	at = put_digits(end, number, digits + 1);
	begin_value(json);
	output_write(json->output, at, (size_t)(end - at) - digits);
	if (digits > 0) {
		output_write(json->output, ".", 1);
		output_write(json->output, end - digits, digits);
	}
}

void json_literal(struct json *json, const char *text)
{
	begin_value(json);
	output_string(json->output, text);
}

void json_key_object(struct json *json, const char *key)
{
	json_key(json, key);
	json_object(json);
}

void json_key_array(struct json *json, const char *key)
{
	json_key(json, key);
	json_array(json);
}

void json_key_string(struct json *json, const char *key, const char *raw)
{
	json_key(json, key);
	json_string(json, raw);
}

void json_key_clean_string(struct json *json, const char *key, const char *clean)
{
	json_key(json, key);
	json_clean_string(json, clean);
}

void json_key_number(struct json *json, const char *key, uint64_t number)
{
	json_key(json, key);
	json_number(json, number);
}

void json_key_literal(struct json *json, const char *key, const char *text)
{
	json_key(json, key);
	json_literal(json, text);
}

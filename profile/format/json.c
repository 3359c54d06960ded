/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/format/json.h"

#include <errno.h>
#include <string.h>

#include "profile/format/format.h"
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
static bool json_expected(const struct json *json)
{
	char closer = json->open[json->depth];

	if (closer == '}')
		return json->key;
	return closer == ']' || !json->comma;
}

/* Indents are for the outer levels alone: deep trees would cost the square of their depth. */
static void json_break(struct json *json)
{
	output_write(json->output, "\n", 1);
	if (!json->readable || json->depth > INDENTED_DEPTH)
		return;
	for (unsigned int i = 0; i < json->depth; i++)
		output_string(json->output, "  ");
}

/* Writes what stands between two values, and the new line that json_line() has asked for. */
static void json_separate(struct json *json, bool comma)
{
	if (comma)
		output_write(json->output, ",", 1);
	if (json->line)
		json_break(json);
	else if (comma && json->readable)
		output_write(json->output, " ", 1);
	json->line = false;
}

static void json_value(struct json *json)
{
	if (!json_expected(json))
		output_fail(json->output, -EPROTO);
	json_separate(json, json->comma && !json->key);
	json->comma = true;
	json->key = false;
}

static void json_begin(struct json *json, const char *opener, char closer)
{
	json_value(json);
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
	json_begin(json, "{", '}');
}

void json_array(struct json *json)
{
	json_begin(json, "[", ']');
}

void json_end(struct json *json)
{
	char closer;

	if (json->depth == 0 || json->key) {
		output_fail(json->output, -EPROTO);
		return;
	}
	closer = json->open[json->depth--];
	json_separate(json, false);
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
	json_separate(json, json->comma);
	output_write(json->output, "\"", 1);
	output_string(json->output, key);
	output_write(json->output, "\":", 2);
	if (json->readable)
		output_write(json->output, " ", 1);
	json->key = true;
}

/* RFC 8259 section 7; the last three for pages that hold the text (HTML, "script" elements). */
static const char *json_escape(const struct json *json, char byte)
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

void json_string(struct json *json, const char *text)
{
	char clean[FORMAT_NAME_MAX];
	const char *from = clean, *at = clean;

	format_clean_name(clean, sizeof(clean), text);
	json_value(json);
	output_write(json->output, "\"", 1);
	for (; *at; at++) {
		const char *escape = json_escape(json, *at);

		if (!escape)
			continue;
		output_write(json->output, from, (size_t)(at - from));
		output_string(json->output, escape);
		from = at + 1;
	}
	output_write(json->output, from, (size_t)(at - from));
	output_write(json->output, "\"", 1);
}

/* Writes digits before the end of a buffer, and returns the first digit. */
static char *json_digits(char *end, uint64_t number, unsigned int least)
{
	char *at = end;

	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0 || (size_t)(end - at) < least);
	return at;
}

static void json_put_number(struct json *json, bool negative, uint64_t number)
{
	char text[DIGITS_MAX + 1], *at = json_digits(text + sizeof(text), number, 1);

	if (negative)
		*--at = '-';
	json_value(json);
	output_write(json->output, at, (size_t)(text + sizeof(text) - at));
}

void json_number(struct json *json, uint64_t number)
{
	json_put_number(json, false, number);
}

void json_signed(struct json *json, int64_t number)
{
	json_put_number(json, number < 0, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

void json_decimal(struct json *json, uint64_t number, unsigned int digits)
{
	char text[DIGITS_MAX];
	char *end = text + sizeof(text), *at;

	while (digits > 0 && number % 10 == 0) {
		number /= 10;
		digits--;
	}
	at = json_digits(end, number, digits + 1);
	json_value(json);
	output_write(json->output, at, (size_t)(end - at) - digits);
	if (digits > 0) {
		output_write(json->output, ".", 1);
		output_write(json->output, end - digits, digits);
	}
}

void json_literal(struct json *json, const char *text)
{
	json_value(json);
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

void json_key_string(struct json *json, const char *key, const char *text)
{
	json_key(json, key);
	json_string(json, text);
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

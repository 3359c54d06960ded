/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/json_check.h"

#include <string.h>

#define DEPTH_MAX 64u

struct text {
	const unsigned char *at, *end;
};

static bool value(struct text *text, unsigned int depth);

static int peek(const struct text *text)
{
	return text->at < text->end ? *text->at : -1;
}

static bool take(struct text *text, int byte)
{
	if (peek(text) != byte)
		return false;
	text->at++;
	return true;
}

static void space(struct text *text)
{
	while (peek(text) == ' ' || peek(text) == '\n')
		text->at++;
}

static size_t digits(struct text *text)
{
	const unsigned char *from = text->at;

	while (peek(text) >= '0' && peek(text) <= '9')
		text->at++;
	return (size_t)(text->at - from);
}

static bool number(struct text *text)
{
	take(text, '-');
	if (take(text, '0')) {
		if (digits(text) > 0)
			return false;
	} else if (digits(text) == 0) {
		return false;
	}
	return !take(text, '.') || digits(text) > 0;
}

static bool escape(struct text *text)
{
	if (take(text, 'u')) {
		for (int i = 0; i < 4; i++, text->at++)
			if (peek(text) < 0 || !strchr("0123456789abcdef", peek(text)))
				return false;
		return true;
	}
	if (peek(text) < 0 || !strchr("\"\\/bfnrt", peek(text)))
		return false;
	text->at++;
	return true;
}

/* Reads the bytes after the first byte of a character. */
static bool rest_of_character(struct text *text, unsigned int first)
{
	unsigned int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
	unsigned int code = first & (0x3fu >> more);

	if (first < 0xc2 || first > 0xf4)
		return false;
	for (unsigned int i = 0; i < more; i++) {
		if ((peek(text) & 0xc0) != 0x80 || peek(text) < 0)
			return false;
		code = code << 6 | (*text->at++ & 0x3fu);
	}
	return code >= (more == 3   ? 0x10000u
			: more == 2 ? 0x800u
				    : 0x80u) &&
	       code < 0x110000 && (code < 0xd800 || code > 0xdfff);
}

static bool string(struct text *text)
{
	if (!take(text, '"'))
		return false;
	while (text->at < text->end) {
		unsigned int byte = *text->at++;

		if (byte == '"')
			return true;
		if (byte < 0x20 || (byte == '\\' && !escape(text)) ||
		    (byte >= 0x80 && !rest_of_character(text, byte)))
			return false;
	}
	return false;
}

static bool member(struct text *text, unsigned int depth)
{
	return string(text) && take(text, ':') && value(text, depth);
}

static bool members(struct text *text, int end, unsigned int depth)
{
	if (take(text, end))
		return true;
	do {
		if (end == '}' ? !member(text, depth) : !value(text, depth))
			return false;
	} while (take(text, ','));
	return take(text, end);
}

static bool word(struct text *text, const char *word)
{
	for (; *word; word++)
		if (!take(text, *word))
			return false;
	return true;
}

static bool value(struct text *text, unsigned int depth)
{
	if (depth == DEPTH_MAX)
		return false;
	switch (peek(text)) {
	case '{':
		text->at++;
		return members(text, '}', depth + 1);
	case '[':
		text->at++;
		return members(text, ']', depth + 1);
	case '"':
		return string(text);
	case 'n':
		return word(text, "null");
	case 't':
		return word(text, "true");
	case 'f':
		return word(text, "false");
	default:
		return number(text);
	}
}

const char *json_check(const char *bytes, size_t size)
{
	struct text text = {.at = (const unsigned char *)bytes};

	text.end = text.at + size;
	space(&text);
	if (!value(&text, 0))
		return (const char *)text.at;
	space(&text);
	return text.at == text.end ? NULL : (const char *)text.at;
}

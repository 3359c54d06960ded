/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/context/variables.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/hex.h"
#include "worker/context/attributes.h"

#define SERVICE	 "OTEL_SERVICE_NAME"
#define RESOURCE "OTEL_RESOURCE_ATTRIBUTES"
#define PREFIX	 "process.environment_variable."

struct piece {
	const char *text;
	size_t size;
};

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

static struct piece trim(struct piece piece)
{
	while (piece.size > 0 && is_blank(piece.text[0])) {
		piece.text++;
		piece.size--;
	}
	while (piece.size > 0 && is_blank(piece.text[piece.size - 1]))
		piece.size--;
	return piece;
}

/* Returns what stands before the byte, and leaves what stands behind. */
static struct piece take_until(struct piece *rest, char byte)
{
	const char *end = memchr(rest->text, byte, rest->size);
	struct piece piece = *rest;

	if (end)
		piece.size = (size_t)(end - rest->text);
	rest->text += piece.size;
	rest->size -= piece.size;
	if (end) {
		rest->text++;
		rest->size--;
	}
	return piece;
}

/* ---- OTEL_RESOURCE_ATTRIBUTES ---- */

/* Undoes the percent-encoding of a value, as far as the room goes (RFC 3986, 2.1). */
static size_t decode(struct piece piece, char *ret_text, size_t max)
{
	size_t length = 0;

	for (size_t i = 0; i < piece.size && length < max; i++) {
		char byte = piece.text[i];
		int high, low;

		if (byte == '%' && i + 2 < piece.size) {
			high = hex_digit(piece.text[i + 1]);
			low = hex_digit(piece.text[i + 2]);
			if (high >= 0 && low >= 0) {
				byte = (char)(high << 4 | low);
				i += 2;
			}
		}
		ret_text[length++] = byte;
	}
	return length;
}

static void add_list(struct attributes *attributes, struct piece list)
{
	char value[ATTRIBUTES_VALUE_MAX];

	while (list.size > 0) {
		struct piece rest = take_until(&list, ','), key = trim(take_until(&rest, '='));
		size_t size = decode(trim(rest), value, sizeof(value));

		attributes_add(attributes, key.text, key.size, value, size);
	}
}

/* ---- together ---- */

static bool is(struct piece name, const char *word)
{
	return name.size == strlen(word) && memcmp(name.text, word, name.size) == 0;
}

static void add_service(struct attributes *attributes, struct piece name, struct piece value)
{
	if (is(name, SERVICE) && value.size > 0)
		attributes_add_known(attributes, "service.name", value.text, value.size);
}

static void add_resource(struct attributes *attributes, struct piece name, struct piece value)
{
	if (is(name, RESOURCE))
		add_list(attributes, value);
}

static void add_other(struct attributes *attributes, struct piece name, struct piece value)
{
	char key[ATTRIBUTES_KEY_MAX];

	if (is(name, SERVICE) || is(name, RESOURCE))
		return;
	snprintf(key, sizeof(key), PREFIX "%.*s", (int)name.size, name.text);
	attributes_add_known(attributes, key, value.text, value.size);
}

static void each(struct piece variables, struct attributes *attributes,
		 void (*add)(struct attributes *attributes, struct piece name, struct piece value))
{
	while (memchr(variables.text, '\0', variables.size)) {
		struct piece value = take_until(&variables, '\0'), name = take_until(&value, '=');

		add(attributes, name, value);
	}
}

/* The name that stands for itself goes before the one in the list. */
void variables_read(const char *bytes, size_t size, struct attributes *attributes)
{
	const struct piece variables = {bytes, size};

	each(variables, attributes, add_service);
	each(variables, attributes, add_resource);
	each(variables, attributes, add_other);
}

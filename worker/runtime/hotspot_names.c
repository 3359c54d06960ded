/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/hotspot_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define CUT	   "..."
#define LAMBDA	   "$$Lambda"
#define ARRAYS_MAX 255u /* JVM specification, 4.3.2 */

struct text {
	char *bytes;
	size_t size, room; /* without the NUL */
};

static void add(struct text *text, const char *bytes, size_t size)
{
	if (size > text->room - text->size)
		size = text->room - text->size;
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
	text->bytes[text->size] = '\0';
}

static void add_string(struct text *text, const char *string)
{
	add(text, string, strlen(string));
}

/* ---- classes ---- */

/*
 * Returns the length of a class's name without an address or a hash behind it:
 * "Run$$Lambda$14+0x..." or, in JDK 8, "Run$$Lambda$1/1234".
 */
static size_t lasting_length(const char *class)
{
	const char *lambda = strstr(class, LAMBDA), *end = strchr(class, '+');

	if (!end && lambda)
		end = strchr(lambda, '/');
	if (end)
		return (size_t)(end - class);
	return strlen(class);
}

static void add_class(struct text *text, const char *class, size_t length)
{
	for (size_t i = 0; i < length; i++)
		add(text, class[i] == '/' ? "." : &class[i], 1);
}

/* ---- signatures ---- */

static const struct {
	char letter;
	const char *name;
} basic_types[] = {
	{'B', "byte"}, {'C', "char"}, {'D', "double"}, {'F', "float"},
	{'I', "int"},  {'J', "long"}, {'S', "short"},  {'Z', "boolean"},
};

static const char *basic_type(char letter)
{
	for (size_t i = 0; i < sizeof(basic_types) / sizeof(basic_types[0]); i++)
		if (basic_types[i].letter == letter)
			return basic_types[i].name;
	return NULL;
}

/* Adds "Object" for "Ljava/lang/Object;". Returns what follows, or NULL: the type has no end. */
static const char *add_object(struct text *text, const char *type)
{
	const char *end = strchr(type, ';'), *start = type + 1;

	if (!end)
		return NULL;
	for (const char *at = start; at < end; at++)
		if (*at == '/')
			start = at + 1;
	add(text, start, (size_t)(end - start));
	return end + 1;
}

/* Adds a type. Returns what follows, or NULL: this is no type. */
static const char *add_type(struct text *text, const char *type)
{
	size_t arrays = 0;

	for (; *type == '[' && arrays < ARRAYS_MAX; type++)
		arrays++;
	if (*type == 'L') {
		type = add_object(text, type);
	} else {
		const char *name = basic_type(*type);

		if (!name)
			return NULL;
		add_string(text, name);
		type++;
	}
	for (; type && arrays > 0; arrays--)
		add_string(text, "[]");
	return type;
}

static void add_signature(struct text *text, const char *signature)
{
	const char *at = signature + 1;

	if (*signature != '(')
		return;
	add_string(text, "(");
	while (at && *at != ')') {
		if (at > signature + 1)
			add_string(text, ",");
		at = add_type(text, at);
	}
	if (!at)
		add_string(text, CUT);
	add_string(text, ")");
}

void hotspot_name(const char *class, const char *name, const char *signature,
		  char ret_name[TOLD_NAME_BYTES])
{
	struct text text = {.bytes = ret_name, .room = TOLD_NAME_BYTES - 1};

	ret_name[0] = '\0';
	if (class[0]) {
		add_class(&text, class, lasting_length(class));
		add_string(&text, ".");
	}
	add_string(&text, name);
	add_signature(&text, signature);
}

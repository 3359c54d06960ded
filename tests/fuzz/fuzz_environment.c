/* SPDX-License-Identifier: Apache-2.0 */
/* An environment in two pieces. Whole entries of the names alone are cut out, as of one piece. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "loader/broker/environment.h"

#define ROOM 256u /* bytes: less than inputs have */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_named(const char *entry)
{
	return strncmp(entry, "A=", 2) == 0 || strncmp(entry, "OTEL_SERVICE_NAME=", 18) == 0 ||
	       strncmp(entry, "OTEL_RESOURCE_ATTRIBUTES=", 25) == 0;
}

/* Cuts in two pieces. Returns the bytes that are whole. */
static size_t cut(const char *text, size_t size, size_t first, char room[ROOM])
{
	static const struct environment_names names = {
		{"A", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"}, 3};
	struct environment_cut cut = {.names = &names, .room = room, .size = ROOM};

	environment_cut(&cut, text, first);
	environment_cut(&cut, text + first, size - first);
	return environment_size(&cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const size_t first = size > 0 ? (unsigned char)text[0] % size : 0;
	char room[ROOM], whole[ROOM];
	size_t got = cut(text, size, first, room);

	if (got > ROOM || got != cut(text, size, size, whole) || memcmp(room, whole, got) != 0)
		abort();
	for (size_t at = 0; at < got; at += strnlen(room + at, got - at) + 1)
		if (!memchr(room + at, '\0', got - at) || !is_named(room + at))
			abort();
	return 0;
}

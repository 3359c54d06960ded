/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process speaks of itself, all of it hostile. The first byte chooses a payload or variables. The
 * text is always one of lines "key=value" in clean UTF-8, and a second reading adds nothing.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/format/names.h"
#include "worker/context/attributes.h"
#include "worker/context/payload.h"
#include "worker/context/variables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has_key(const char *line)
{
	return *line != '=' && strcspn(line, "=") < strcspn(line, "\n");
}

static void check(const struct attributes *attributes)
{
	static char clean[2 * ATTRIBUTES_BYTES_MAX];
	const char *line = attributes->text;

	if (strlen(line) != attributes->used || attributes->used >= ATTRIBUTES_BYTES_MAX)
		abort();
	while (*line) {
		const size_t length = strcspn(line, "\n");
		char raw[ATTRIBUTES_KEY_MAX + ATTRIBUTES_VALUE_MAX + 1];

		if (!has_key(line) || length >= sizeof(raw) || line[length] != '\n')
			abort();
		memcpy(raw, line, length);
		raw[length] = '\0';
		format_clean_name(clean, sizeof(clean), raw);
		if (strcmp(clean, raw) != 0)
			abort();
		line += length + 1;
	}
}

static void read_payload(const uint8_t *data, size_t size)
{
	static struct attributes attributes;
	size_t used;

	attributes = (struct attributes){.used = 0};
	payload_read(data, size, &attributes);
	check(&attributes);
	used = attributes.used;
	payload_read(data, size, &attributes);
	if (attributes.left_out == 0 && attributes.used != used)
		abort();
}

static void read_variables(const char *text, size_t size)
{
	static struct attributes attributes;

	attributes = (struct attributes){.used = 0};
	variables_read(text, size, &attributes);
	check(&attributes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] % 2 == 0)
		read_payload(data + 1, size - 1);
	else
		read_variables((const char *)data + 1, size - 1);
	return 0;
}

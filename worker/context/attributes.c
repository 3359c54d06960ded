/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/context/attributes.h"

#include <stdbool.h>
#include <string.h>

#include "profile/format/names.h"

/* Copies bytes up to a NUL and cleans them. */
static void clean(char *ret_clean, size_t max, const char *bytes, size_t size)
{
	char raw[ATTRIBUTES_VALUE_MAX + 1];

	if (size >= sizeof(raw))
		size = sizeof(raw) - 1;
	memcpy(raw, bytes, size);
	raw[size] = '\0';
	format_clean_name(ret_clean, max, raw);
}

static bool is_known(const struct attributes *attributes, const char *key)
{
	const size_t length = strlen(key);

	for (const char *line = attributes->text; *line; line = strchr(line, '\n') + 1)
		if (strncmp(line, key, length) == 0 && line[length] == '=')
			return true;
	return false;
}

static void put(struct attributes *attributes, const char *bytes, size_t size)
{
	memcpy(attributes->text + attributes->used, bytes, size);
	attributes->used += size;
}

void attributes_add(struct attributes *attributes, const char *key, size_t key_size,
		    const char *value, size_t value_size)
{
	char clean_key[ATTRIBUTES_KEY_MAX], clean_value[ATTRIBUTES_VALUE_MAX];

	if (key_size < 1 || key_size >= sizeof(clean_key) || memchr(key, '=', key_size)) {
		attributes->left_out++;
		return;
	}
	clean(clean_key, sizeof(clean_key), key, key_size);
	clean(clean_value, sizeof(clean_value), value, value_size);
	if (!clean_key[0] || is_known(attributes, clean_key))
		return;
	if (attributes->used + strlen(clean_key) + strlen(clean_value) + sizeof("=\n") >
	    sizeof(attributes->text)) {
		attributes->left_out++;
		return;
	}
	put(attributes, clean_key, strlen(clean_key));
	put(attributes, "=", 1);
	put(attributes, clean_value, strlen(clean_value));
	put(attributes, "\n", 1);
	attributes->text[attributes->used] = '\0';
}

void attributes_add_known(struct attributes *attributes, const char *key, const char *value,
			  size_t value_size)
{
	attributes_add(attributes, key, strlen(key), value, value_size);
}

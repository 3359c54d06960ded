/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/format/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A clean name has no control character, fits, and is left alone when it is cleaned again. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t max = size > 0 ? 1 + data[0] : 1;
	char *name = malloc(size + 1), *text = malloc(max), *again = malloc(max);

	if (!name || !text || !again)
		abort();
	memcpy(name, data, size);
	name[size] = '\0';
	format_clean_name(text, max, name);
	format_clean_name(again, max, text);
	if (strlen(text) >= max || strcmp(text, again) != 0)
		__builtin_trap();
	for (const char *at = text; *at; at++) {
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			__builtin_trap();
	}
	free(name);
	free(text);
	free(again);
	return 0;
}

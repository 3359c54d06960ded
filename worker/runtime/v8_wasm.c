/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/v8_wasm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A script has this and a hash as its name. A module with a name has it and a dash in between. */
#define SCHEME V8_WASM_SCHEME

static void put_file(const struct v8_wasm_text *text, char ret_file[TOLD_FILE_BYTES])
{
	const char *scheme = SCHEME;

	if (!text->before[0] || strncmp(text->before, SCHEME, strlen(SCHEME)) == 0)
		scheme = "";
	snprintf(ret_file, TOLD_FILE_BYTES, "%s%s%s", scheme, text->before, text->file);
}

/* Returns the bytes of the module's name in the name of its script. */
static size_t find_module(const char *file, const char **ret_module)
{
	const char *end = strrchr(file, '-');

	*ret_module = file + strlen(SCHEME);
	if (strncmp(file, SCHEME, strlen(SCHEME)) != 0 || !end || end < *ret_module)
		return 0;
	return (size_t)(end - *ret_module);
}

void v8_wasm_name(const struct v8_wasm_text *text, struct told_code *ret_code)
{
	const size_t size = strlen(text->name) + 1;
	const char *module;
	size_t before;

	put_file(text, ret_code->file);
	if (size == 1) {
		snprintf(ret_code->name, TOLD_NAME_BYTES, "wasm-function[%" PRIu32 "]",
			 text->index);
		return;
	}
	before = find_module(ret_code->file, &module);
	if (before == 0 || before + 1 + size > TOLD_NAME_BYTES) {
		memcpy(ret_code->name, text->name, size);
		return;
	}
	memcpy(ret_code->name, module, before);
	ret_code->name[before] = '.';
	memcpy(ret_code->name + before + 1, text->name, size);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/lua_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "worker/runtime/memory.h"
#include "worker/runtime/told.h"

#define CHUNK_LINE 60u /* characters of a chunk's first line: LUA_IDSIZE */

/* Writes what the compiler was told: a file, a name, or the first line of the program's text. */
static void write_file(const char *source, char *ret_file, size_t size)
{
	const size_t line = strcspn(source, "\n");
	const char *rest = "";
	size_t shown = line;

	if (source[0] == '@' || source[0] == '=') {
		snprintf(ret_file, size, "%s", source + 1);
		return;
	}
	if (shown > CHUNK_LINE)
		shown = CHUNK_LINE;
	if (source[shown] != '\0')
		rest = "...";
	snprintf(ret_file, size, "[string \"%.*s%s\"]", (int)shown, source, rest);
}

static void write_name(const struct told_code *code, const char *source, char *ret_name,
		       size_t size)
{
	const char *file = code->file, *slash = strrchr(file, '/');

	if (source[0] == '@' && slash)
		file = slash + 1;
	if (code->first_line == 0)
		snprintf(ret_name, size, "main chunk");
	else
		snprintf(ret_name, size, "function <%.*s:%u>", (int)size - 32, file,
			 code->first_line);
}

void lua_text_write(struct told_code *code, const char *source)
{
	write_file(source, code->file, sizeof(code->file));
	write_name(code, source, code->name, sizeof(code->name));
}

bool lua_text_is_name(const char *text)
{
	if (text[0] == '\0' || text[0] == '(')
		return false;
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || *text == 0x7f)
			return false;
	return true;
}

int lua_text_read(const struct memory *memory, uint64_t address, char *ret_text, size_t size)
{
	size_t left = memory_left(memory, address);

	if (left == 0)
		return -EFAULT;
	if (left > size - 1)
		left = size - 1;
	memset(ret_text, 0, size);
	return memory_read(memory, address, ret_text, left);
}

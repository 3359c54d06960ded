/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/function_text.h"

#include <stdlib.h>
#include <string.h>

#include "worker/runtime/runtime.h"

/* Returns where a copy of bytes is, and moves the place behind it. */
static void *append(char **place, const void *bytes, size_t size)
{
	char *at = *place;

	if (size > 0)
		memcpy(at, bytes, size);
	*place += size;
	return at;
}

/* Copies a text, whose pointers are those of another one or of an event, with a name. */
static struct function_text *copy(const struct function_text *from, const char *name)
{
	const size_t name_bytes = strlen(name) + 1, file_bytes = strlen(from->function.file) + 1;
	const size_t bytes =
		sizeof(*from) + name_bytes + file_bytes + from->lines.size + from->packed.size;
	struct function_text *text = malloc(bytes);
	char *place;

	if (!text)
		return NULL;
	*text = *from;
	text->bytes = bytes;
	place = text->data;
	text->function.name = append(&place, name, name_bytes);
	text->function.file = append(&place, from->function.file, file_bytes);
	text->lines.table = append(&place, from->lines.table, from->lines.size);
	text->packed.bytes = append(&place, from->packed.bytes, from->packed.size);
	return text;
}

struct function_text *function_text_new(const struct told *told)
{
	const struct function_text from = {
		.function = {told->code.name, told->code.file, told->code.first_line},
		.handler = told->handler,
		.has_callers_name = told->has_callers_name,
		.is_start = told->is_start,
		.lines = told->lines,
		.script = told->script,
		.compiled = told->compiled,
		.late = told->late,
		.packed = told->packed,
	};

	return copy(&from, told->code.name);
}

struct function_text *function_text_rename(const struct function_text *text, const char *name)
{
	struct function_text *renamed = copy(text, name);

	if (renamed) {
		renamed->has_callers_name = true;
		renamed->late = (struct told_late){0};
	}
	return renamed;
}

/* Returns whether two tables may be of one function: an event may lack the end of its table. */
static bool is_same_table(const struct told_lines *left, const struct told_lines *right)
{
	if (!left->is_cut && right->size > left->size)
		return false;
	if (!right->is_cut && left->size > right->size)
		return false;
	return memcmp(left->table, right->table,
		      left->size < right->size ? left->size : right->size) == 0;
}

bool function_text_is_same(const struct function_text *text, const struct told *told)
{
	return text->function.first_line == told->code.first_line &&
	       (told->handler->has_callers_names ||
		strcmp(text->function.name, told->code.name) == 0) &&
	       strcmp(text->function.file, told->code.file) == 0 &&
	       is_same_table(&text->lines, &told->lines);
}

bool function_text_lacks_lines(const struct function_text *text, const struct told *told)
{
	return !told->handler->has_callers_names && told->lines.size > text->lines.size;
}

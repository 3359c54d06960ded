/* SPDX-License-Identifier: Apache-2.0 */
#include "view/top/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/columns.h"

#define TEXT_BYTES 512

static void put(struct canvas *canvas, const char *bytes, size_t size)
{
	if (canvas->failed ||
	    ARRAY_RESERVE(canvas->bytes, canvas->capacity, canvas->size + size) < 0) {
		canvas->failed = true;
		return;
	}
	memcpy(canvas->bytes + canvas->size, bytes, size);
	canvas->size += size;
}

static void put_string(struct canvas *canvas, const char *string)
{
	put(canvas, string, strlen(string));
}

static bool is_below(const struct canvas *canvas)
{
	return canvas->escapes && canvas->line >= canvas->lines;
}

void canvas_begin(struct canvas *canvas)
{
	canvas->size = 0;
	canvas->line = canvas->column = 0;
	canvas->ink = INK_PLAIN;
	canvas->failed = false;
	if (canvas->escapes)
		put_string(canvas, "\033[H");
}

void canvas_release(struct canvas *canvas)
{
	free(canvas->bytes);
	canvas->bytes = NULL;
	canvas->size = canvas->capacity = 0;
}

void canvas_ink(struct canvas *canvas, enum ink ink)
{
	static const char *const codes[] = {
		[INK_PLAIN] = "\033[0m",      [INK_HEAD] = "\033[0;1m",	 [INK_DIM] = "\033[0;2m",
		[INK_HOT] = "\033[0;31m",     [INK_WARM] = "\033[0;33m", [INK_BAR] = "\033[0;7m",
		[INK_CHOSEN] = "\033[0;1;7m",
	};
	const bool coloured = ink == INK_HOT || ink == INK_WARM;

	if (!canvas->escapes || is_below(canvas) || (coloured && !canvas->colour))
		return;
	canvas->ink = ink;
	put_string(canvas, codes[ink]);
}

unsigned int canvas_left(const struct canvas *canvas)
{
	if (canvas->columns <= canvas->column)
		return 0;
	return canvas->columns - canvas->column;
}

/* Writes as much text as there is room for, without a mark. */
static void put_clipped(struct canvas *canvas, const char *text, unsigned int room)
{
	unsigned int used;
	size_t size;

	if (is_below(canvas))
		return;
	size = columns_fit(text, room, &used);
	put(canvas, text, size);
	canvas->column += used;
}

void canvas_printf(struct canvas *canvas, const char *format, ...)
{
	char text[TEXT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	put_clipped(canvas, text, canvas_left(canvas));
}

void canvas_cell(struct canvas *canvas, const char *text, unsigned int columns)
{
	const unsigned int start = canvas->column, mark = 2;
	unsigned int room = canvas_left(canvas), kept;

	if (is_below(canvas))
		return;
	if (room > columns)
		room = columns;
	kept = room;
	if (kept > mark)
		kept -= mark;
	if (columns_of(text) <= room) {
		put_clipped(canvas, text, room);
	} else {
		put_clipped(canvas, text, kept);
		put_clipped(canvas, "..", room - (canvas->column - start));
	}
	while (canvas->column < start + room)
		put_clipped(canvas, " ", 1);
}

void canvas_sentence(struct canvas *canvas, const char *text)
{
	if (canvas->escapes)
		canvas_cell(canvas, text, canvas_left(canvas));
	else
		put_string(canvas, text);
}

void canvas_next(struct canvas *canvas)
{
	if (is_below(canvas))
		return;
	if (!canvas->escapes) {
		while (canvas->size > 0 && canvas->bytes[canvas->size - 1] == ' ')
			canvas->size--;
		put_string(canvas, "\n");
	} else {
		if (canvas->ink == INK_BAR || canvas->ink == INK_CHOSEN)
			canvas_cell(canvas, "", canvas_left(canvas));
		put_string(canvas, "\033[0m");
		/* at the right border the cursor is still on the last column, and would erase it */
		if (canvas_left(canvas) > 0)
			put_string(canvas, "\033[K");
		if (canvas->line + 1 < canvas->lines)
			put_string(canvas, "\r\n");
	}
	canvas->ink = INK_PLAIN;
	canvas->column = 0;
	canvas->line++;
}

void canvas_end(struct canvas *canvas)
{
	while (canvas->escapes && canvas->line < canvas->lines)
		canvas_next(canvas);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A screen as text: lines that are at most as wide as the terminal. Callers pass clean names, which
 * may have characters that are two columns wide.
 */
#ifndef KEYHOLE_VIEW_TOP_CANVAS_H
#define KEYHOLE_VIEW_TOP_CANVAS_H

#include <stdbool.h>
#include <stddef.h>

enum ink {
	INK_PLAIN,
	INK_HEAD,
	INK_DIM,
	INK_HOT,
	INK_WARM,
	INK_BAR,    /* reversed, to the end of the line */
	INK_CHOSEN, /* the same */
};

struct canvas {
	char *bytes; /* of the screen, to be written */
	size_t size, capacity;
	unsigned int columns, lines;
	unsigned int column, line; /* where the next text goes */
	bool escapes;		   /* a terminal; false: plain lines of text */
	bool colour;
	bool failed; /* no memory: the rest is missing */
	enum ink ink;
};

void canvas_begin(struct canvas *canvas); /* with the columns and lines that are set */
void canvas_release(struct canvas *canvas);
/* Fills the rest of the screen. */
void canvas_end(struct canvas *canvas);

void canvas_ink(struct canvas *canvas, enum ink ink); /* until the line ends */
void canvas_printf(struct canvas *canvas, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Writes text in exactly `columns`, cut with ".." or filled with blanks; fewer at the border. */
void canvas_cell(struct canvas *canvas, const char *text, unsigned int columns);
/* Writes text that fills the line: cut with ".." on a terminal, whole in plain lines. */
void canvas_sentence(struct canvas *canvas, const char *text);
/* Goes to the next line. Text below a terminal's last line is dropped. */
void canvas_next(struct canvas *canvas);
unsigned int canvas_left(const struct canvas *canvas); /* columns */

#endif

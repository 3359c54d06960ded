/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A screen as text: lines of a terminal's width at most, whatever they hold. Names are clean when
 * they come here, and may have characters that are two columns wide.
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
	char *bytes; /* what is to be written */
	size_t size, capacity;
	unsigned int columns, lines;
	unsigned int column, line; /* where the next text goes */
	bool escapes;		   /* a terminal; else lines of text that end where they end */
	bool colour;
	bool failed; /* no memory: the rest is missing */
	enum ink ink;
};

void canvas_begin(struct canvas *canvas); /* of the size that is set */
void canvas_release(struct canvas *canvas);
/* Fills the rest of the screen. */
void canvas_end(struct canvas *canvas);

void canvas_ink(struct canvas *canvas, enum ink ink); /* until the line ends */
void canvas_printf(struct canvas *canvas, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* In exactly `columns`, or fewer at the right border: cut with "..", or filled with blanks. */
void canvas_cell(struct canvas *canvas, const char *text, unsigned int columns);
/* To the next line; on a terminal nothing is below its last line. */
void canvas_next(struct canvas *canvas);
unsigned int canvas_left(const struct canvas *canvas); /* columns */

#endif

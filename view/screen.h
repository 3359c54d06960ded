/* SPDX-License-Identifier: Apache-2.0 */
/* Text on standard output, no wider than the terminal. Callers pass clean names. */
#ifndef KEYHOLE_VIEW_SCREEN_H
#define KEYHOLE_VIEW_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum style {
	STYLE_PLAIN,
	STYLE_HEAD,
	STYLE_DIM,
	STYLE_HOT,
	STYLE_WARM
};

struct screen {
	FILE *out;
	unsigned int width;
	bool colour, terminal;
};

/*
 * Returns false where NO_COLOR has any value but the empty one (no-color.org), and on a terminal
 * without colours, which TERM calls dumb.
 */
bool screen_wants_colour(void);

/* Called before the process is confined. */
void screen_init(struct screen *screen, FILE *out);

void screen_style(const struct screen *screen, enum style style);
/* Returns the share in percent, or 0 where sum is 0. */
double screen_percent(uint64_t part, uint64_t sum);
/* Returns the style for a share in percent. */
enum style screen_heat(double percent);

/* Writes a name in at most `columns`, cut at the right. Returns how many columns it used. */
unsigned int screen_name(const struct screen *screen, const char *name, unsigned int columns);

/*
 * Returns the columns that are left for a name. A minimum is always left, even where it makes lines
 * wider than the terminal.
 */
unsigned int screen_room(const struct screen *screen, unsigned int used);

/*
 * Writes a part of a line. On a terminal, a part that would not fit begins a new line, without the
 * blank that it may begin with. *column is the position in the line, 0 at its beginning.
 */
__attribute__((format(printf, 3, 4))) void
screen_part(const struct screen *screen, unsigned int *column, const char *format, ...);

/* The unit of all values of a table. */
struct scale {
	double by;
	const char *unit;
	int decimals;
};

/* most: the largest value of the table. unit: "nanoseconds", "bytes", "count" … */
struct scale scale_for(double most, const char *unit);

/* Writes the value and its unit, right-aligned in `columns`. */
void screen_value(const struct screen *screen, const struct scale *scale, double value,
		  unsigned int columns);

#endif

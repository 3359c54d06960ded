/* SPDX-License-Identifier: Apache-2.0 */
/* Text of one width on standard output. Names are clean when they come here. */
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
 * no-color.org: any value but the empty one refuses it; a terminal without colours is called dumb.
 */
bool screen_wants_colour(void);

/* Before the process is confined. */
void screen_init(struct screen *screen, FILE *out);

void screen_style(const struct screen *screen, enum style style);
/* Of a share in percent. */
enum style screen_heat(double percent);

/* At most `columns`, cut at the right; returns how many were used. */
unsigned int screen_name(const struct screen *screen, const char *name, unsigned int columns);

/* The columns that are left for a name: some, also where lines then are wider than the terminal. */
unsigned int screen_room(const struct screen *screen, unsigned int used);

/*
 * A part of a line that is broken, on a terminal, where it would be wider: *column is where the
 * line is, 0 at its beginning. The part may begin with a blank, which a new line is without.
 */
__attribute__((format(printf, 3, 4))) void
screen_part(const struct screen *screen, unsigned int *column, const char *format, ...);

/* How values of a profile are written: all of a table in one unit. */
struct scale {
	double by;
	const char *unit;
	int decimals;
};

/* most: the largest one of the table. unit: "nanoseconds", "bytes", "count" … */
struct scale scale_for(double most, const char *unit);

/* Right-aligned in `columns`, the unit behind it included. */
void screen_value(const struct screen *screen, const struct scale *scale, double value,
		  unsigned int columns);

/* A JSON string with its quotes; text is valid UTF-8. */
void screen_json_string(FILE *out, const char *text);

#endif

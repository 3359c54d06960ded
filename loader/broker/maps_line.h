/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The permissions and the name of one mapping, out of the text of /proc/PID/maps. The permissions
 * stand in columns of the kernel's own, before the name, in which the kernel escapes the ends of
 * lines.
 */
#ifndef KEYHOLE_LOADER_BROKER_MAPS_LINE_H
#define KEYHOLE_LOADER_BROKER_MAPS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAPS_LINE_KEY	      34  /* "START-END " with two addresses of 16 digits */
#define MAPS_LINE_PERMISSIONS 5	  /* "r-xp " */
#define MAPS_LINE_REST	      128 /* from the permissions on; more is left out */

/* A search through a text that comes in pieces. */
struct maps_line {
	char key[MAPS_LINE_KEY + 1]; /* the beginning of the line */
	size_t length;		     /* of key */
	size_t column;		     /* of the next byte */
	bool other;		     /* the line under way begins with something else */
	bool whole;		     /* the search takes the line to its end, or to the room's */
	char rest[MAPS_LINE_REST];   /* begins with the permissions */
	size_t rest_length;
};

void maps_line_init(struct maps_line *line, uint64_t start, uint64_t end);
/*
 * Takes a piece of the text. Returns whether the permissions are known now, or the rest of the line
 * where line->whole is set.
 */
bool maps_line_take(struct maps_line *line, const char *text, size_t size);
/* Returns whether the permissions that are known are those of code. */
bool maps_line_is_code(const struct maps_line *line);
/* Returns whether the name is all that the line has behind its numbers. */
bool maps_line_is_named(const struct maps_line *line, const char *name);

#endif

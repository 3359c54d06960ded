/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The permissions of one mapping, out of the text of /proc/PID/maps. They stand in columns of the
 * kernel's own, before the file's name, in which the kernel escapes the ends of lines.
 */
#ifndef KEYHOLE_LOADER_BROKER_MAPS_LINE_H
#define KEYHOLE_LOADER_BROKER_MAPS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAPS_LINE_KEY	      34 /* "START-END " with two addresses of 16 digits */
#define MAPS_LINE_PERMISSIONS 5	 /* "r-xp " */

/* A search through a text that comes in pieces. */
struct maps_line {
	char key[MAPS_LINE_KEY + 1]; /* the beginning of the line */
	size_t length;		     /* of key */
	size_t column;		     /* of the next byte */
	bool other;		     /* the line under way begins with something else */
	char permissions[MAPS_LINE_PERMISSIONS];
};

void maps_line_init(struct maps_line *line, uint64_t start, uint64_t end);
/* Takes a piece of the text. Returns whether the permissions are known now. */
bool maps_line_take(struct maps_line *line, const char *text, size_t size);
/* Returns whether the permissions that are known are those of code. */
bool maps_line_is_code(const struct maps_line *line);

#endif

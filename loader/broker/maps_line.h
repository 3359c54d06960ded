/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One mapping, out of the text of /proc/PID/maps. The columns of the kernel's own stand before the
 * name, in which the kernel escapes the ends of lines.
 */
#ifndef KEYHOLE_LOADER_BROKER_MAPS_LINE_H
#define KEYHOLE_LOADER_BROKER_MAPS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAPS_LINE_BYTES 192 /* of a line that are kept: the columns have 82 at most */

/* A search through a text that comes in pieces. */
struct maps_line {
	uint64_t address;	    /* that the mapping should have */
	char text[MAPS_LINE_BYTES]; /* the line under way, without its end, or its beginning */
	size_t length;
	/* The columns of the line that was found. */
	uint64_t start, end, inode;
	uint32_t major, minor; /* of the file's device */
	bool is_code;
	const char *name; /* in text; empty: none */
};

void maps_line_init(struct maps_line *line, uint64_t address);
/* Takes a piece of the text. Returns whether a whole line with the address has come. */
bool maps_line_take(struct maps_line *line, const char *text, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes to standard error. On a terminal, text is fitted to the width, and lines may be replaced.
 * Elsewhere, text stays as it is, and no line moves. Colours are never used, with or without
 * NO_COLOR.
 */
#ifndef KEYHOLE_HELPER_OUTPUT_SCREEN_H
#define KEYHOLE_HELPER_OUTPUT_SCREEN_H

#include <stdio.h>

#define SCREEN_COLUMNS_MIN 20
#define SCREEN_COLUMNS_MAX 1000

/* Returns the columns of a terminal; 0: fd is no terminal, or has no cursor control (TERM=dumb). */
unsigned int screen_columns(int fd);

/* Replaces the line at the cursor by `line`, which is cut so that it does not wrap. */
void screen_replace_line(const char *line, unsigned int columns, FILE *stream);

/* Prints lines of text. Long lines are broken at blanks and go on indented; columns 0: unbroken. */
void screen_print(const char *text, unsigned int columns, FILE *stream);

#endif

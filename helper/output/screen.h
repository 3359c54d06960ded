/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard error. On a terminal, text is fitted to the width. Elsewhere, text stays as it is, and
 * nothing that moves is shown. Colours are never used, with or without NO_COLOR.
 */
#ifndef KEYHOLE_HELPER_OUTPUT_SCREEN_H
#define KEYHOLE_HELPER_OUTPUT_SCREEN_H

#include <stdio.h>

#define SCREEN_COLUMNS_MIN 20
#define SCREEN_COLUMNS_MAX 1000

/* Columns of the terminal that fd is; 0: it is none, or cannot move its cursor (TERM=dumb). */
unsigned int screen_columns(int fd);

/* Takes the place of the line that the cursor is on, cut so that it does not wrap. */
void screen_replace_line(const char *line, unsigned int columns, FILE *stream);

/* Lines of text; those that are longer are broken at blanks and go on indented. 0: as they are. */
void screen_print(const char *text, unsigned int columns, FILE *stream);

#endif

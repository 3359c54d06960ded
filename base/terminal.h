/* SPDX-License-Identifier: Apache-2.0 */
/* The width of a terminal: the value of COLUMNS, or else the terminal's own width, or else 80. */
#ifndef KEYHOLE_BASE_TERMINAL_H
#define KEYHOLE_BASE_TERMINAL_H

#define TERMINAL_WIDTH 80u

/* Returns columns, from least to most; fd may be no terminal. */
unsigned int terminal_width(int fd, unsigned int least, unsigned int most);

#endif

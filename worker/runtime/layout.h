/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of a layout: a row for each field, and a column for each version. A structure has a u16
 * for each row, in the order of the rows, and they come first.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_LAYOUT_H
#define KEYHOLE_WORKER_RUNTIME_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define LAYOUT_ROWS(rows) (sizeof(rows) / sizeof((rows)[0]))

/* Copies a column of a table with so many rows and columns into a structure. */
void layout_copy(const uint16_t *table, size_t rows, size_t columns, size_t column,
		 void *ret_layout);

/* Does so with an array of rows. */
#define LAYOUT_COPY(rows, column, ret_layout) \
	layout_copy((rows)[0], LAYOUT_ROWS(rows), LAYOUT_ROWS((rows)[0]), column, ret_layout)

#endif

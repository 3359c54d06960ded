/* SPDX-License-Identifier: Apache-2.0 */
/* An independent reader of one function's rows, for comparison with a table. */
#ifndef KEYHOLE_TESTS_UNIT_COMPARE_ROWS_H
#define KEYHOLE_TESTS_UNIT_COMPARE_ROWS_H

#include <stddef.h>

struct unwind_table;

/* Aborts unless the table has the rules of the section's first FDE, at both ends of each row. */
void compare_rows(const struct unwind_table *table, const void *eh_frame, size_t size);

#endif

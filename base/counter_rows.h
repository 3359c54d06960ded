/* SPDX-License-Identifier: Apache-2.0 */
/* Adds counters that several CPUs count apart, each in a row that it goes on changing. */
#ifndef KEYHOLE_BASE_COUNTER_ROWS_H
#define KEYHOLE_BASE_COUNTER_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* Sets each of `words` sums to that of the words of so many rows, which lie one behind another. */
void counter_rows_add(const void *rows, size_t count, size_t words, uint64_t *ret_sums);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Orders numbers for qsort(). */
#ifndef KEYHOLE_BASE_COMPARE_H
#define KEYHOLE_BASE_COMPARE_H

#include <stdint.h>

/* Returns -1, 0 or 1: a is less than, equal to or greater than b. */
static inline int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

#endif

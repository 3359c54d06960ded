/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#define NUMBERS 4096

static int compare(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

__attribute__((noinline)) uint32_t sort_in_c(void)
{
	uint32_t numbers[NUMBERS];

	for (uint32_t i = 0; i < NUMBERS; i++)
		numbers[i] = i * 2654435761u;
	qsort(numbers, NUMBERS, sizeof(numbers[0]), compare);
	return numbers[NUMBERS / 2];
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/counter_rows.h"

void counter_rows_add(const void *rows, size_t count, size_t words, uint64_t *ret_sums)
{
	const volatile uint64_t *word = rows;

	for (size_t i = 0; i < words; i++)
		ret_sums[i] = 0;
	for (size_t row = 0; row < count; row++)
		for (size_t i = 0; i < words; i++)
			ret_sums[i] += *word++;
}

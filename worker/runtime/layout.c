/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/layout.h"

#include <string.h>

void layout_copy(const uint16_t *table, size_t rows, size_t columns, size_t column,
		 void *ret_layout)
{
	unsigned char *to = ret_layout;

	for (size_t i = 0; i < rows; i++)
		memcpy(to + i * sizeof(*table), &table[i * columns + column], sizeof(*table));
}

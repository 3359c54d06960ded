/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

int array_reserve(void **items, size_t *capacity, size_t need, size_t item_size)
{
	size_t grown = *capacity + *capacity / 2, bytes;
	void *moved;

	if (need <= *capacity)
		return 0;
	if (grown < 16)
		grown = 16;
	if (grown < need)
		grown = need;
	if (__builtin_mul_overflow(grown, item_size, &bytes) || bytes > PTRDIFF_MAX)
		return -EOVERFLOW;
	moved = realloc(*items, bytes);
	if (!moved)
		return -ENOMEM;
	*items = moved;
	*capacity = grown;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "worker/runtime/cpython_layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An offset that an interpreter tells is small, or there is none. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpython_layout layout;

	if (cpython_layout_read(data, size, &layout) < 0)
		return 0;
#define O(field, v9, v10, v11, v12, v13, v14, v15)                             \
	if (layout.field > CPYTHON_OFFSET_MAX && layout.field != CPYTHON_NONE) \
		abort();
#define F O
#include "worker/runtime/cpython_layout.def"
#undef F
#undef O
	return 0;
}

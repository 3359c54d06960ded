/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "worker/runtime/cpython_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte is the format, the second one the instruction. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int64_t line;

	if (size < 2)
		return 0;
	line = cpython_line((enum cpython_lines)(data[0] % CPYTHON_LINES_COUNT), data + 2, size - 2,
			    7, data[1]);
	if (line <= 0 && line != -ENOENT && line != -EBADMSG)
		abort();
	return 0;
}

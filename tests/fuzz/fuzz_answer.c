/* SPDX-License-Identifier: Apache-2.0 */
/* The file in which a process that reads debug information answers; its head says how many. */
#include <stddef.h>
#include <stdint.h>

#include "object/dwarf/answer.h"

#define ADDRESSES_MAX 16u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t count = 0; count <= ADDRESSES_MAX; count++) {
		const struct answer_frame *frames;
		struct answer *answer;

		if (answer_read(data, size, count, &answer) < 0)
			continue;
		for (size_t i = 0; i < count; i++)
			for (size_t n = answer_get(answer, i, &frames); n > 0; n--)
				if (!answer_function_get(answer, frames[n - 1].function))
					__builtin_trap();
		answer_free(answer);
	}
	return 0;
}

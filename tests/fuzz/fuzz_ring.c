/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/sample/ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static _Alignas(8) unsigned char bytes[RING_BYTES_MIN];
	volatile u64 sum = 0;
	struct record head;
	struct ring ring;
	const u64 *frames;
	u64 tail = 0;

	if (size < 8)
		return 0;
	/* From a position of the input's choice, so that records lie at the ring's end as well. */
	memcpy(&tail, data, 8);
	tail &= ~7ull;
	size = size - 8 < RECORD_BYTES_MAX ? size - 8 : RECORD_BYTES_MAX;
	memset(bytes, 0, sizeof(bytes));
	for (size_t i = 0; i < size; i++)
		bytes[(tail + i) & (sizeof(bytes) - 1)] = data[8 + i];
	ring_init(&ring, bytes, sizeof(bytes), &tail);
	while (ring_next(&ring, &head, &frames))
		for (unsigned int i = 0; i < head.kernel_frames + head.user_frames; i++)
			sum = sum + frames[i];
	ring_publish(&ring);
	return 0;
}

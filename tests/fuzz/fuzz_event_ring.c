/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "worker/sample/event_ring.h"

#define PAGE  64
#define BYTES 4096 /* an event about code fits */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_Alignas(8) unsigned char producer[PAGE + 2 * BYTES] = {0};
	_Alignas(8) uint64_t consumer;
	struct event_ring ring;
	struct event event;

	if (size < 16)
		return 0;
	memcpy(&consumer, data, 8);
	memcpy(producer, data + 8, 8);
	size = size - 16 < BYTES ? size - 16 : BYTES;
	memcpy(producer + PAGE, data + 16, size);
	memcpy(producer + PAGE + BYTES, data + 16, size);
	event_ring_init(&ring, &consumer, producer, PAGE, BYTES);
	while (event_ring_next(&ring, &event))
		;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/sample/sideband.h"

#define BYTES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct perf_event_mmap_page page;
	static struct sideband sideband;
	struct sideband_record record;
	unsigned char *ring;

	if (size < 16)
		return 0;
	ring = calloc(1, BYTES);
	if (!ring)
		abort();
	memcpy(&page.data_tail, data, 8);
	memcpy(&page.data_head, data + 8, 8);
	memcpy(ring, data + 16, size - 16 < BYTES ? size - 16 : BYTES);
	sideband_init(&sideband, &page, ring, BYTES);
	while (sideband_next(&sideband, &record))
		if (record.text && strlen(record.text) >= SIDEBAND_RECORD_MAX)
			abort();
	free(ring);
	return 0;
}

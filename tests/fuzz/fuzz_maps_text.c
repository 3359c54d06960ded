/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/process/maps_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct maps_line line;
	struct reader reader;
	int r;

	reader_init(&reader, data, size);
	while ((r = maps_text_next(&reader, &line)) != 0)
		if (r > 0 && (line.start >= line.end || strlen(line.path) >= MAPS_PATH_MAX))
			abort();
	return 0;
}

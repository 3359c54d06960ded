/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "object/elf/image.h"
#include "tests/unit/build_hotspot.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct runtime_setup setups[BUILD_HOTSPOT_VERSIONS];

static void make_setups(void)
{
	for (uint32_t i = 0; i < BUILD_HOTSPOT_VERSIONS; i++) {
		struct image *image = build_hotspot_image(&(struct build_hotspot){.version = i});

		if (runtime_configure(RUNTIME_HOTSPOT, image, &setups[i]) < 0)
			abort();
		image_close(image);
	}
}

/* The first byte is the version, the second one an instruction; an event follows. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_code event = {.code = 0};
	struct told told;

	if (!setups[0].handler)
		make_setups();
	if (size < 2 || size - 2 > sizeof(event))
		return 0;
	memcpy(&event, data + 2, size - 2);
	if (told_read(&setups[data[0] % BUILD_HOTSPOT_VERSIONS], NULL, &event, &told) < 0)
		return 0;
	if (!memchr(told.code.name, 0, sizeof(told.code.name)) ||
	    !memchr(told.code.file, 0, sizeof(told.code.file)) ||
	    told.lines.size > sizeof(told.table))
		abort();
	for (uint32_t i = 0; i < 8; i++)
		if (told.handler->find_line(&told.lines, 32u * data[1] + i) > UINT16_MAX)
			abort();
	told.handler->find_line(&told.lines, UINT32_MAX);
	return 0;
}

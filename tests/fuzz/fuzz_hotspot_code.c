/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "object/elf/image.h"
#include "tests/fuzz/told_event.h"
#include "tests/unit/build_hotspot.h"

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
	struct event_code event;
	struct told told;

	if (!setups[0].handler)
		make_setups();
	if (size < 2)
		return 0;
	if (!told_event_read(&setups[data[0] % BUILD_HOTSPOT_VERSIONS], data + 2, size - 2, &event,
			     &told))
		return 0;
	told_event_find_lines(&told, 32u * data[1], 1, UINT16_MAX);
	return 0;
}

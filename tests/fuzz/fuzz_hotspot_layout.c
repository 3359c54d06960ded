/* SPDX-License-Identifier: Apache-2.0 */
/* The input changes bits of the tables in an image of HotSpot. Its first byte tells the version. */
#include <stdint.h>
#include <stdlib.h>

#include "object/elf/image.h"
#include "tests/unit/build_hotspot.h"
#include "worker/runtime/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct build_hotspot hotspot = {.has_offsets = true};
	struct runtime_setup setup;
	struct image *image;
	int r;

	if (size == 0)
		return 0;
	hotspot.version = data[0] % BUILD_HOTSPOT_VERSIONS;
	hotspot.has_offsets = data[0] & 128;
	hotspot.changes = data + 1;
	hotspot.changes_size = size - 1;
	image = build_hotspot_image(&hotspot);
	r = runtime_configure(RUNTIME_HOTSPOT, image, &setup);
	image_close(image);
	/* an input that changes nothing shows that the fuzzer reaches a config */
	if (r < 0 && size == 1)
		abort();
	if (r == 0 && (setup.config.hotspot.head_bytes > RUNTIME_HEAD_BYTES ||
		       setup.config.hotspot.constant_bytes > RUNTIME_HEAD_BYTES))
		abort();
	return 0;
}

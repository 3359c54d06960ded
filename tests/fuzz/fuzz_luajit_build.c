/* SPDX-License-Identifier: Apache-2.0 */
/* The input changes the bits of an image of LuaJIT. The first byte tells the version. */
#include <stdint.h>
#include <stdlib.h>

#include "object/elf/image.h"
#include "tests/unit/build_luajit.h"
#include "worker/runtime/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct build_luajit *const versions[] = {
	&build_luajit_2017,
	&build_luajit_2022,
	&build_luajit_2023,
	&build_luajit_2025,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct runtime_setup setup;
	struct image *image;
	int r;

	if (size == 0)
		return 0;
	image = build_luajit_image(versions[data[0] % 4], data + 1, size - 1);
	r = runtime_configure(RUNTIME_LUAJIT, image, &setup);
	image_close(image);
	/* an input that changes nothing shows that the fuzzer reaches a config */
	if (r < 0 && size == 1)
		abort();
	if (r == 0 && setup.config.node_bytes > RUNTIME_NODE_BYTES)
		abort();
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The input changes bits of the numbers in an image of V8. Its first byte tells the version. */
#include <stdint.h>
#include <stdlib.h>

#include "object/elf/image.h"
#include "tests/unit/build_v8.h"
#include "worker/runtime/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_field(const struct runtime_v8 *v8, uint16_t field)
{
	if ((field & ~7u) + 8 > v8->shared_bytes)
		abort();
}

static void check(const struct runtime_v8 *v8)
{
	if (v8->shared_bytes > RUNTIME_HEAD_BYTES)
		abort();
	check_field(v8, v8->shared_data);
	check_field(v8, v8->shared_name);
	check_field(v8, v8->shared_script);
	check_field(v8, v8->shared_counts);
	check_field(v8, v8->shared_number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct runtime_setup setup;
	struct build_v8 v8 = {0};
	struct image *image;
	int r;

	if (size == 0)
		return 0;
	v8.version = (data[0] & 127) % BUILD_V8_VERSIONS;
	v8.is_bare = data[0] & 128;
	v8.changes = data + 1;
	v8.changes_size = size - 1;
	image = build_v8_image(&v8);
	r = runtime_configure(RUNTIME_NODE, image, &setup);
	image_close(image);
	/* an input that changes nothing shows that the fuzzer reaches a config */
	if (r < 0 && size == 1)
		abort();
	if (r == 0)
		check(&setup.config.v8);
	return 0;
}

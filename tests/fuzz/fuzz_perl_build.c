/* SPDX-License-Identifier: Apache-2.0 */
/* The input changes the bits of an image of Perl, with threads and without. */
#include <stdint.h>
#include <stdlib.h>

#include "object/elf/image.h"
#include "tests/unit/build_perl.h"
#include "worker/runtime/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void configure(const struct build_perl_parts *parts, const uint8_t *data, size_t size)
{
	struct image *image = build_perl_image(parts, data, size);
	struct runtime_setup setup;
	int r = runtime_configure(RUNTIME_PERL, image, &setup);

	image_close(image);
	/* an input that changes nothing shows that the fuzzer reaches a config */
	if (r < 0 && size == 0)
		abort();
	if (r == 0 && setup.config.node_bytes > RUNTIME_NODE_BYTES)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	configure(&build_perl_5_36, data, size);
	configure(&build_perl_single, data, size);
	return 0;
}

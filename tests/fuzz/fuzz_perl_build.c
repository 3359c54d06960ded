/* SPDX-License-Identifier: Apache-2.0 */
/* The input changes the bits of an image of Perl. */
#include <stdint.h>
#include <stdlib.h>

#include "object/elf/image.h"
#include "tests/unit/build_perl.h"
#include "worker/runtime/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image *image = build_perl_image(&build_perl_5_36, data, size);
	struct runtime_setup setup;
	int r = runtime_configure(RUNTIME_PERL, image, &setup);

	image_close(image);
	/* an input that changes nothing shows that the fuzzer reaches a config */
	if (r < 0 && size == 0)
		abort();
	if (r == 0 && setup.config.node_bytes > RUNTIME_NODE_BYTES)
		abort();
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "tests/fuzz/told_event.h"
#include "worker/runtime/ruby.h"
#include "worker/runtime/ruby_layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint32_t versions[] = {
#define V(major, minor) (major) << 24 | (minor) << 16,
#include "worker/runtime/ruby_versions.def"
#undef V
};
#define VERSIONS (sizeof(versions) / sizeof(*versions))

/* The first byte is the version, the second one a place; an event follows. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct runtime_setup setup = {.handler = &ruby_handler, .config.flags = RUNTIME_CONTROL};
	struct event_code event;
	struct told told;

	if (size < 2 || ruby_layout_find(versions[data[0] % VERSIONS], &setup.layout.ruby) < 0)
		return 0;
	if (!told_event_read(&setup, data + 2, size - 2, &event, &told))
		return 0;
	told_event_find_lines(&told, 64u * data[1], 8, INT32_MAX);
	return 0;
}

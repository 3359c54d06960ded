/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "tests/fuzz/told_event.h"
#include "worker/runtime/php.h"
#include "worker/runtime/php_layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define V(interface, major, minor) interface,
static const uint32_t interfaces[] = {
#include "worker/runtime/php_versions.def"
};
#undef V
#define VERSIONS (sizeof(interfaces) / sizeof(*interfaces))

/* The first byte is the version, the second one an instruction; an event follows. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct runtime_setup setup = {.handler = &php_handler};
	struct event_code event;
	struct told told;

	if (size < 2 ||
	    php_layout_find(interfaces[data[0] % VERSIONS], &setup.layout.php, &setup.version) < 0)
		return 0;
	if (!told_event_read(&setup, data + 2, size - 2, &event, &told))
		return 0;
	told_event_find_lines(&told, 32u * data[1], 1, INT32_MAX);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/runtime/php.h"
#include "worker/runtime/php_layout.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

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
	struct event_code event = {.code = 0};
	struct told told;

	if (size < 2 || size - 2 > sizeof(event) ||
	    php_layout_find(interfaces[data[0] % VERSIONS], &setup.layout.php, &setup.version) < 0)
		return 0;
	memcpy(&event, data + 2, size - 2);
	if (told_read(&setup, NULL, &event, &told) < 0)
		return 0;
	if (!memchr(told.code.name, 0, sizeof(told.code.name)) ||
	    !memchr(told.code.file, 0, sizeof(told.code.file)) ||
	    told.lines.size > sizeof(told.table))
		abort();
	for (uint32_t i = 0; i < 8; i++)
		if (told.handler->find_line(&told.lines, 32u * data[1] + i) > INT32_MAX)
			abort();
	told.handler->find_line(&told.lines, UINT32_MAX);
	return 0;
}

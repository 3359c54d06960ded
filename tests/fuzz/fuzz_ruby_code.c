/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/runtime/ruby.h"
#include "worker/runtime/ruby_layout.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SERIES(major, minor) ((major) << 24 | (minor) << 16)

static const uint32_t versions[] = {SERIES(2u, 7u), SERIES(3u, 1u), SERIES(3u, 3u), SERIES(3u, 4u)};

/* The first byte is the version, the second one a place; an event follows. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct runtime_setup setup = {.handler = &ruby_handler, .config.flags = RUNTIME_CONTROL};
	struct event_code event = {.code = 0};
	struct told told;

	if (size < 2 || size - 2 > sizeof(event) ||
	    ruby_layout_find(versions[data[0] % 4], &setup.layout.ruby) < 0)
		return 0;
	memcpy(&event, data + 2, size - 2);
	if (told_read(&setup, NULL, &event, &told) < 0)
		return 0;
	if (!memchr(told.code.name, 0, sizeof(told.code.name)) ||
	    !memchr(told.code.file, 0, sizeof(told.code.file)) ||
	    told.lines.size > sizeof(told.table))
		abort();
	for (uint32_t i = 0; i < 8; i++)
		if (told.handler->find_line(&told.lines, 64u * data[1] + 8 * i) > INT32_MAX)
			abort();
	told.handler->find_line(&told.lines, UINT32_MAX);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "tests/fuzz/told_event.h"
#include "worker/runtime/perl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte is a line, and its lowest bit says how files are named; an event follows. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct runtime_setup setup = {.handler = &perl_handler};
	struct event_code event;
	struct told told;

	if (size < 1)
		return 0;
	if (data[0] & 1)
		setup.config.flags = RUNTIME_FILE_NAMED;
	if (!told_event_read(&setup, data + 1, size - 1, &event, &told))
		return 0;
	if (told.handler->find_line(&told.lines, data[0] * 0x01010101u) > INT32_MAX)
		abort();
	return 0;
}

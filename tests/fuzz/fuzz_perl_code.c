/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/runtime/perl.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte is a line; an event follows. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct runtime_setup setup = {.handler = &perl_handler};
	struct event_code event = {.code = 0};
	struct told told;

	if (size < 1 || size - 1 > sizeof(event))
		return 0;
	memcpy(&event, data + 1, size - 1);
	if (told_read(&setup, NULL, &event, &told) < 0)
		return 0;
	if (!memchr(told.code.name, 0, sizeof(told.code.name)) ||
	    !memchr(told.code.file, 0, sizeof(told.code.file)))
		abort();
	if (told.handler->find_line(&told.lines, data[0] * 0x01010101u) > INT32_MAX)
		abort();
	return 0;
}

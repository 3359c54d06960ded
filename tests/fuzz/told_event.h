/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an event about code as the worker does, and aborts where a promise does not hold. */
#ifndef KEYHOLE_TESTS_FUZZ_TOLD_EVENT_H
#define KEYHOLE_TESTS_FUZZ_TOLD_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

/* Reads an event from an input. Returns whether it is one; its texts end, and its table fits. */
static inline bool told_event_read(const struct runtime_setup *setup, const uint8_t *data,
				   size_t size, struct event_code *ret_event, struct told *ret_told)
{
	memset(ret_event, 0, sizeof(*ret_event));
	if (size > sizeof(*ret_event))
		return false;
	memcpy(ret_event, data, size);
	if (told_read(setup, NULL, ret_event, ret_told) < 0)
		return false;
	if (!memchr(ret_told->code.name, 0, sizeof(ret_told->code.name)) ||
	    !memchr(ret_told->code.file, 0, sizeof(ret_told->code.file)) ||
	    ret_told->lines.size > sizeof(ret_told->table))
		abort();
	return true;
}

/* Asks for the lines of eight instructions, `step` apart, and of one that no code has. */
static inline void told_event_find_lines(const struct told *told, uint32_t first, uint32_t step,
					 uint32_t most)
{
	for (uint32_t i = 0; i < 8; i++)
		if (told->handler->find_line(&told->lines, first + i * step) > most)
			abort();
	told->handler->find_line(&told->lines, UINT32_MAX);
}

#endif

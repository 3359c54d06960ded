/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "tests/fuzz/told_event.h"
#include "worker/runtime/lua.h"
#include "worker/runtime/lua_layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint32_t versions[] = {LUA_VERSION(1, 5), LUA_VERSION(2, 4), LUA_VERSION(3, 6),
				    LUA_VERSION(4, 2), LUA_VERSION(4, 7), LUA_VERSION(5, 1)};

/* The first byte is the version, the second one an instruction; an event follows. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct runtime_setup setup = {.handler = &lua_handler};
	struct event_code event;
	struct told told;

	if (size < 2 || lua_layout_find(versions[data[0] % 6], &setup.layout.lua) < 0)
		return 0;
	if (!told_event_read(&setup, data + 2, size - 2, &event, &told))
		return 0;
	told_event_find_lines(&told, 4u * data[1], 1, INT32_MAX);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/told_event.h"
#include "worker/runtime/luajit.h"
#include "worker/runtime/luajit_layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct luajit_build builds[] = {
	{LUAJIT_BETA, 8, 232, 132, 0, 0, false},
	{LUAJIT_BETA, 16, 352, 192, 736, 88, true},
	{LUAJIT_BETA, 16, 352, 192, 744, 88, true},
	{1737090214, 16, 352, 192, 752, 88, true},
};

/* Finds a name wherever packed ones begin. */
static void find_names(const struct told *told, uint64_t named)
{
	const struct told_packed *packed = &told->packed;
	char name[TOLD_NAME_BYTES];

	if (packed->size > sizeof(told->table) - told->lines.size)
		abort();
	for (size_t i = 0; i < TOLD_PACKED_KINDS; i++) {
		const uint64_t at = packed->address[i] - packed->first;

		if (packed->address[i] == 0)
			continue;
		if (at > packed->size || packed->size - at < TOLD_PACKED_BYTES)
			abort();
		if (told->handler->find_name(packed->bytes + at, packed->size - at, named, name) ==
			    0 &&
		    !memchr(name, 0, sizeof(name)))
			abort();
	}
}

/* The first byte is the build, the second one an instruction; an event follows. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct runtime_setup setup = {.handler = &luajit_handler};
	struct event_code event;
	struct told told;

	if (size < 2)
		return 0;
	if (luajit_layout_find(&builds[data[0] % 4], &setup.layout.luajit) < 0)
		abort();
	if (!told_event_read(&setup, data + 2, size - 2, &event, &told))
		return 0;
	find_names(&told, event.named);
	told_event_find_lines(&told, 4u * data[1], 1, INT32_MAX);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "worker/runtime/cpython.h"
#include "worker/runtime/functions.h"
#include "worker/runtime/told.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Makes the event pass: the types are those that it has where objects begin. */
static struct cpython_types take_types(const struct cpython_layout *layout,
				       struct event_code *event)
{
	const uint8_t *data = event->data + layout->object_type;
	struct cpython_types types;

	memcpy(&types.code, data, 8);
	memcpy(&types.text, data + CODE_PART_1, 8);
	memcpy(&types.bytes, data + CODE_PART_3, 8);
	memcpy(event->data + CODE_PART_2 + layout->object_type, &types.text, 8);
	return types;
}

/* The first byte is the version, the second one an instruction; an event follows. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct functions *functions = functions_new();
	struct event_code event = {.code = 0};
	struct function_key key = {.family = 1};
	struct runtime_setup setup = {.handler = &cpython_handler};
	struct cpython_types types;
	struct function function;
	struct told told;

	if (!functions || size < 2 || size - 2 > sizeof(event) ||
	    cpython_layout_find(CPYTHON_VERSION(3, 9 + data[0] % 4), &setup.layout.cpython) < 0) {
		functions_free(functions);
		return 0;
	}
	memcpy(&event, data + 2, size - 2);
	key.code = event.code;
	types = take_types(&setup.layout.cpython, &event);
	if (told_read(&setup, &types, &event, &told) == 0) {
		functions_tell(functions, &key, &told, 1);
		if (!functions_get(functions,
				   FUNCTION_OF(functions_place(functions, &key, data[1], 2)),
				   &function) ||
		    strcmp(function.name, told.code.name) != 0)
			abort();
		types.code++;
		if (told_read(&setup, &types, &event, &told) != -EPROTO)
			abort();
	}
	functions_free(functions);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "tests/fuzz/told_event.h"
#include "worker/runtime/functions.h"
#include "worker/runtime/v8.h"
#include "worker/runtime/v8_layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define VERSION(major, minor) ((major) << 24 | (minor) << 16)

static const uint32_t versions[] = {VERSION(9u, 4u),  VERSION(10u, 2u), VERSION(11u, 3u),
				    VERSION(12u, 4u), VERSION(13u, 6u), VERSION(14u, 6u)};

/* The event's function and a part of its script: whatever the bytes are, there is a line or 0. */
static void find_line(const struct told *told, uint32_t instruction)
{
	const struct function_key key = {.family = 1, .code = 1},
				  script = {1, told->script.address, told->script.fingerprint},
				  bytecode = {1, told->compiled.bytecode,
					      told->compiled.fingerprint},
				  put_in = {1, key.code, key.fingerprint + 1};
	struct functions *functions = functions_new();
	struct function function;
	uint64_t place, function_place;

	if (!functions)
		return;
	functions_tell(functions, &key, told, 1);
	functions_tell(functions, &script, told, 1);
	functions_tell(functions, &bytecode, told, 1);
	functions_tell(functions, &put_in, told, 1);
	place = functions_place(functions, &key, instruction, 1);
	for (size_t i = 0; i <= TOLD_PUT_IN_MAX; i++)
		functions_inlined(functions, place, i, &function_place);
	functions_line(functions, place);
	functions_get(functions, FUNCTION_OF(place), &function);
	functions_free(functions);
}

/* The first byte is the version, the second one an instruction; an event follows. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct runtime_setup setup = {.handler = &v8_handler};
	struct told_put_in put_in[TOLD_PUT_IN_MAX];
	struct event_code event;
	struct told told;

	if (size > 0)
		setup.version = versions[data[0] % 6];
	if (size < 2 || v8_layout_of_version(versions[data[0] % 6], &setup.layout.v8) < 0)
		return 0;
	if (!told_event_read(&setup, data + 2, size - 2, &event, &told))
		return 0;
	if (told.handler->find_line(&told.lines, data[1]) >= FUNCTION_UNTOLD)
		abort();
	/* bytes of one event count as those of both */
	if (told.handler->find_instruction(&told.lines, &told.lines, data[1]) > RUNTIME_OFFSET_NONE)
		abort();
	if (told.handler->find_put_in(&told.lines, data[1], put_in) > TOLD_PUT_IN_MAX)
		abort();
	find_line(&told, data[1]);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/runtime/v8.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "object/elf/exported.h"
#include "object/elf/image.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/v8_baseline.h"
#include "worker/runtime/v8_code.h"
#include "worker/runtime/v8_layout.h"
#include "worker/runtime/v8_optimized.h"

/* An exported function of any release: its address is in the runtime's own code. */
#define INSIDE "node_module_register"

static void cover(uint32_t *bytes, uint16_t field)
{
	const uint32_t end = (field & ~7u) + sizeof(u64);

	if (end > *bytes)
		*bytes = end;
}

static int set_functions(const struct v8_layout *layout, struct runtime_v8 *v8)
{
	uint32_t bytes = 0;

	v8->function_shared = layout->function_shared;
	v8->shared_data = layout->shared_data;
	v8->shared_name = layout->shared_name;
	v8->shared_script = layout->shared_script;
	v8->shared_counts = layout->shared_counts;
	v8->shared_number = layout->shared_number;
	cover(&bytes, v8->shared_data);
	cover(&bytes, v8->shared_name);
	cover(&bytes, v8->shared_script);
	cover(&bytes, v8->shared_counts);
	cover(&bytes, v8->shared_number);
	if (bytes > RUNTIME_HEAD_BYTES)
		return -ENOTSUP;
	v8->shared_bytes = (u16)bytes;
	v8->bytecode_positions = layout->bytecode_positions;
	v8->bytecode_data = layout->bytecode_data;
	v8->code_bytecode = layout->code_bytecode;
	v8->code_start = layout->code_start;
	v8->code_size = layout->code_size;
	v8->code_table = layout->code_table;
	v8->array_length = layout->array_length;
	v8->array_data = layout->array_data;
	return 0;
}

static void set_optimized(const struct v8_layout *layout, struct runtime_v8 *v8)
{
	v8->code_map = layout->code_map;
	v8->code_pointer = layout->code_pointer;
	v8->put_in_count = layout->put_in_count;
	v8->put_in_functions = layout->put_in_functions;
	v8->own_function = layout->own_function;
	v8->own_shared = layout->own_shared;
	v8->put_in_places = layout->put_in_places;
}

static void set_wasm(const struct v8_layout *layout, struct runtime_v8 *v8)
{
	v8->wasm_frame = layout->wasm_frame;
	v8->type_export = layout->type_export;
	v8->wasm_object = layout->wasm_object;
	v8->wasm_module = layout->wasm_module;
	v8->wasm_script = layout->wasm_script;
	v8->wasm_native = layout->wasm_native;
	v8->wasm_bytes = layout->wasm_bytes;
	v8->wasm_tree = layout->wasm_tree;
	v8->wasm_code_size = layout->wasm_code_size;
	v8->wasm_code_index = layout->wasm_code_index;
}

static void set_types(const struct v8_layout *layout, struct runtime_v8 *v8)
{
	v8->map_type = layout->map_type;
	v8->type_shared = layout->type_shared;
	v8->type_script = layout->type_script;
	v8->type_bytecode = layout->type_bytecode;
	v8->type_scope = layout->type_scope;
	v8->type_code = layout->type_code;
	v8->type_text_end = layout->type_text_end;
}

static int set_texts(const struct v8_layout *layout, struct runtime_v8 *v8)
{
	v8->script_source = layout->script_source;
	v8->script_name = layout->script_name;
	v8->script_number = layout->script_number;
	/* the number follows the ends of lines */
	if (layout->script_number != layout->script_ends + sizeof(u64))
		return -ENOTSUP;
	v8->text_length = layout->text_length;
	v8->text_first = layout->text_first;
	v8->text_data = layout->text_data;
	v8->text_offset = layout->text_offset;
	v8->text_resource = layout->text_resource;
	v8->scope_count = layout->scope_count;
	v8->scope_first = layout->scope_first;
	v8->scope_start = layout->scope_start;
	v8->scope_names = layout->scope_names;
	v8->scope_module = layout->scope_module;
	v8->scope_shift = layout->scope_shift;
	v8->scope_receiver = layout->scope_receiver;
	return 0;
}

/* BPF makes a list of addresses for an event: bpf/walk/v8_function.bpf.h. */
static void set_event(struct runtime_config *config)
{
	config->flags = RUNTIME_FRAMES;
	config->code_mask = ~0ull;
	for (u16 i = 0; i < RUNTIME_PARTS; i++)
		config->part[i] = (u16)(i * sizeof(u64));
	config->last_count = RUNTIME_PARTS * sizeof(u64);
	config->last_unit = 1;
}

static int configure(struct image *image, struct runtime_setup *ret_setup)
{
	struct runtime_setup setup = {.is_described = true};
	struct runtime_v8 *v8 = &setup.config.v8;
	struct v8_layout *layout = &setup.layout.v8;
	struct exported_symbol inside;
	struct exported exported;
	int r = exported_open(image, &exported);

	if (r < 0 || !exported_find(&exported, INSIDE, &inside))
		return -ENOTSUP;
	v8->inside = inside.address;
	r = v8_layout_find(image, &exported, layout, &setup.version);
	if (r == 0)
		r = set_functions(layout, v8);
	if (r == 0)
		r = set_texts(layout, v8);
	if (r < 0)
		return r;
	set_types(layout, v8);
	set_optimized(layout, v8);
	set_wasm(layout, v8);
	set_event(&setup.config);
	*ret_setup = setup;
	return 0;
}

const struct runtime_handler v8_handler = {
	.runtime = RUNTIME_NODE,
	.configure = configure,
	.read_code = v8_code_read,
	.find_line = v8_code_place,
	.find_put_in = v8_optimized_find,
	.find_instruction = v8_baseline_instruction,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and functions of V8, whose config, code and memory are the input. */
#include <stdint.h>

#include "tests/fuzz/frames_input.h"

#define READS_A_FUNCTION 128u /* of memory, at most */
#define READS_A_SEARCH	 (V8_SEARCHES * 12u)

int LLVMFuzzerTestOneInput(const u8 *input, size_t size);

static u32 parts;

/* Mostly a word that is an address in one of the regions, with a tag; the top bits choose. */
static u64 word(u64 value)
{
	switch (value >> 62) {
	case 0:
		return value;
	case 1:
		return CODE + (value & 0xfff);
	case 2:
		return DATA + (value & 0xff9);
	default:
		return STACK + (value & 0x7f8);
	}
}

/* A config that leads somewhere: offsets are small, and types are bytes. */
static void lead(struct runtime_v8 *v8)
{
	u16 *const fields[] = {
		&v8->function_shared,	 &v8->shared_data,   &v8->shared_name,
		&v8->shared_script,	 &v8->shared_counts, &v8->shared_number,
		&v8->script_source,	 &v8->script_name,   &v8->script_number,
		&v8->text_first,	 &v8->text_data,     &v8->text_offset,
		&v8->text_resource,	 &v8->array_data,    &v8->array_length,
		&v8->bytecode_positions, &v8->bytecode_data, &v8->code_bytecode,
		&v8->code_size,		 &v8->code_table,    &v8->put_in_count,
		&v8->put_in_functions,	 &v8->own_function,  &v8->put_in_places,
		&v8->code_map,
	};
	u16 *const types[] = {&v8->type_shared, &v8->type_script, &v8->type_bytecode,
			      &v8->type_scope,	&v8->type_code,	  &v8->type_text_end};

	v8->inside = 0x100;
	v8->shared_bytes = 64;
	v8->map_type = v8->text_length = 12;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		*fields[i] &= 0x38;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		*types[i] &= 0xff;
	v8->code_pointer &= 0x18;
	v8->own_shared &= 8;
	v8->code_start &= V8_START_WITHIN | 0x38;
	v8->scope_count &= 7;
	v8->scope_first &= 7;
	v8->scope_start &= 7;
	v8->scope_names &= 127;
}

static void take_config(const u8 **input, size_t *size, struct runtime_config *config)
{
	u8 leads = 0;

	take(input, size, config, sizeof(*config));
	take(input, size, &leads, 1);
	if (leads & 1)
		lead(&config->v8);
	if (leads & 2)
		config->flags = RUNTIME_FRAMES;
}

static void on_tell(u64 told)
{
	const struct runtime_list *list = &host.walk.list;

	(void)told;
	assert(list->memory[4] < V8_LENGTH_MAX);
	/* what has a length has an address */
	assert(!V8_NAME_LENGTH(list->named) || list->memory[0] >= 4096);
	assert(!V8_NAME_LENGTH(list->named >> V8_PREFIX_SHIFT) || list->memory[1] >= 4096);
	assert(!V8_NAME_LENGTH(list->named >> V8_FILE_SHIFT) || list->memory[2] >= 4096);
}

static int on_tell_inlined(u64 told, u32 print)
{
	(void)told;
	(void)print;
	assert(host.walk.hotspot.inlined <= CODE_TINY_END / 16);
	assert(++parts <= V8_CHUNKS + 2);
	return 1;
}

/* Walks twice: the second walk has what the first one has kept. */
static void walk(void)
{
	put_thread();
	host.walk.reg[REG_RBP] = STACK + (stack[REG_RBP] & 0x7f8);
	host_walk();
	host.walk.list.reads = parts = 0;
	host.walk.reason = WALK_GOES_ON;
	if (!host.walk.marks || runtime_begin())
		return;
	step_list();
	check_frames();
	assert(host.walk.list.reads <= host.walk.marks * (READS_A_FUNCTION + READS_A_SEARCH) +
					       V8_PUT_IN_MAX * READS_A_FUNCTION +
					       (V8_CHUNKS + 1) * V8_CHUNK * 2 / V8_BLOCK_BYTES +
					       READS_A_FUNCTION);
}

int LLVMFuzzerTestOneInput(const u8 *input, size_t size)
{
	struct runtime_config config;

	put_regions();
	host.tell = on_tell;
	host.tell_inlined = on_tell_inlined;
	take_config(&input, &size, &config);
	take_regions(&input, &size, word);
	publish(&config, CODE);
	/* another process: nothing is known of an earlier input */
	host.walk.seed++;
	walk();
	walk();
	return 0;
}

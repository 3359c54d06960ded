/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and functions of V8, whose config, code and memory are the input. */
#include <stdint.h>

#include "tests/bpf/host.h"

#define CODE  0x7f0000000000ull
#define DATA  0x600000000000ull
#define STACK 0x7ffe00000000ull

#define READS_A_FUNCTION 128u /* of memory, at most */

int LLVMFuzzerTestOneInput(const u8 *input, size_t size);

static u8 code[4096];
static u64 data[512];
static u64 stack[256];
static u32 parts;

/* Takes bytes of the input; behind its end all are 0. */
static void take(const u8 **input, size_t *size, void *to, size_t bytes)
{
	size_t got = *size < bytes ? *size : bytes;

	memset(to, 0, bytes);
	memcpy(to, *input, got);
	*input += got;
	*size -= got;
}

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

static void take_words(const u8 **input, size_t *size, u64 *words, size_t count)
{
	take(input, size, words, count * 8);
	for (size_t i = 0; i < count; i++)
		words[i] = word(words[i]);
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
	assert(++parts <= V8_CHUNKS + 1);
	return 1;
}

static void check(void)
{
	const struct runtime_list *list = &host.walk.list;

	assert(host.walk.frames <= RECORD_FRAMES_MAX && host.walk.marks <= RECORD_FRAMES_MAX);
	assert(list->words <= RECORD_RUNTIME_WORDS_MAX && list->result <= RUNTIME_CUT_BUDGET);
	for (u32 i = 0; i < list->words; i++) {
		if (host.word[i] & RUNTIME_WORD_FRAME)
			i++;
		else
			assert(host.word[i] & RUNTIME_WORD_BORDER);
	}
}

/* Two mappings, whose bias makes small addresses of the config those of the code. */
static void publish(const struct runtime_config *config)
{
	struct mapping_entry entries[] = {
		{.start = DATA, .end = DATA + sizeof(data), .bias = CODE},
		{.start = CODE, .end = CODE + sizeof(code), .bias = CODE},
	};
	const u32 at = build_words(&host.build, sizeof(*config) / 4, 16);

	memcpy(build_at(&host.build, at), config, sizeof(*config));
	entries[0].runtime = entries[1].runtime = at;
	host.walk.block = build_block(&host.build, entries, 2);
	host.walk.mappings = 2;
	host.walk.multiplier = 0x9e3779b97f4a7c15ull;
	/* another process: nothing is known of an earlier input */
	host.walk.seed++;
}

/* A process of three regions, of which the code is executable. */
static void put_regions(void)
{
	if (!host.build.next)
		build_init(&host.build);
	build_reset(&host.build);
	host.region[0] = (struct host_region){CODE, sizeof(code), code};
	host.region[1] = (struct host_region){DATA, sizeof(data), data};
	host.region[2] = (struct host_region){STACK, sizeof(stack), stack};
	host.executable = CODE;
	host.executable_end = CODE + sizeof(code);
	host.may_list = host.cold = true;
	host.tell = on_tell;
	host.tell_inlined = on_tell_inlined;
}

/* Walks twice: the second walk has what the first one has kept. */
static void walk(void)
{
	walk_init(&host.walk);
	host.walk.deadline = ~0ull;
	memcpy(host.walk.reg, stack, sizeof(host.walk.reg));
	memcpy(host.leaf, stack, sizeof(host.leaf));
	host.walk.reg[REG_RSP] = STACK + (stack[0] & 0x1f8);
	host.walk.reg[REG_RBP] = STACK + (stack[REG_RBP] & 0x7f8);
	host.walk.address = CODE + (stack[1] & 0xfff);
	host_walk();
	host.walk.list.reads = parts = 0;
	host.walk.reason = WALK_GOES_ON;
	if (!host.walk.marks || runtime_begin())
		return;
	for (u32 i = 0; i <= WALK_STEPS_MAX && !walk_step(); i++)
		;
	check();
	assert(host.walk.list.reads <= host.walk.marks * READS_A_FUNCTION +
					       (V8_CHUNKS + 1) * V8_CHUNK * 2 / V8_BLOCK_BYTES +
					       READS_A_FUNCTION);
}

int LLVMFuzzerTestOneInput(const u8 *input, size_t size)
{
	struct runtime_config config;

	put_regions();
	take_config(&input, &size, &config);
	take_words(&input, &size, data, sizeof(data) / 8);
	take_words(&input, &size, stack, sizeof(stack) / 8);
	take(&input, &size, code, sizeof(code));
	publish(&config);
	walk();
	walk();
	return 0;
}

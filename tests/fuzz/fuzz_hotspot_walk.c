/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and functions of HotSpot, whose config, code and memory are the input. */
#include <stdint.h>

#include "tests/bpf/host.h"

#define CODE  0x7f0000000000ull
#define DATA  0x600000000000ull
#define STACK 0x7ffe00000000ull

int LLVMFuzzerTestOneInput(const u8 *input, size_t size);

static u8 code[4096];
static u64 data[512];
static u64 stack[256];

/* Takes bytes of the input; behind its end all are 0. */
static void take(const u8 **input, size_t *size, void *to, size_t bytes)
{
	size_t got = *size < bytes ? *size : bytes;

	memset(to, 0, bytes);
	memcpy(to, *input, got);
	*input += got;
	*size -= got;
}

/* Mostly a word that is an address in one of the regions; the top bits choose. */
static u64 word(u64 value)
{
	switch (value >> 62) {
	case 0:
		return value;
	case 1:
		return CODE + (value & 0xfff);
	case 2:
		return DATA + (value & 0xff8);
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

/* A config that leads somewhere: offsets are small. */
static void lead(struct runtime_hotspot *hotspot)
{
	u16 *const fields[] = {
		&hotspot->heaps_count, &hotspot->heaps_data,	 &hotspot->heap_low,
		&hotspot->heap_high,   &hotspot->heap_segments,	 &hotspot->heap_shift,
		&hotspot->code_start,  &hotspot->code_bytes,	 &hotspot->constant,
		&hotspot->pool_bytes,  &hotspot->pool_class,	 &hotspot->class_name,
		&hotspot->file_index,  &hotspot->bytecode_below, &hotspot->size,
		&hotspot->complete,    &hotspot->frame,		 &hotspot->name,
		&hotspot->kind,	       &hotspot->method,	 &hotspot->own,
		&hotspot->code.at,     &hotspot->pool,		 &hotspot->constant_size,
		&hotspot->code_size,   &hotspot->name_index,	 &hotspot->signature_index,
	};

	hotspot->heaps = hotspot->interpreter = hotspot->returns = 0;
	hotspot->interpreter = 8;
	hotspot->returns = 16;
	hotspot->head_bytes = hotspot->constant_bytes = 64;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		*fields[i] &= 0x38;
	hotspot->block_bytes &= 0x18;
	hotspot->excluded &= 1;
}

static void take_config(const u8 **input, size_t *size, struct runtime_config *config)
{
	u8 leads = 0;

	take(input, size, config, sizeof(*config));
	take(input, size, &leads, 1);
	if (leads & 1)
		lead(&config->hotspot);
	if (leads & 2)
		config->flags = RUNTIME_HEAPS;
}

static void check(void)
{
	const struct runtime_list *list = &host.walk.list;

	assert(host.walk.frames <= RECORD_FRAMES_MAX && host.walk.marks <= RECORD_FRAMES_MAX);
	assert(list->words <= RECORD_RUNTIME_WORDS_MAX && list->result <= RUNTIME_CUT_BUDGET);
	assert(host.walk.hotspot.inlined <= HOTSPOT_INLINED_MAX);
	for (u32 i = 0; i < list->words; i++) {
		if (host.word[i] & RUNTIME_WORD_FRAME)
			i++;
		else
			assert(host.word[i] & RUNTIME_WORD_BORDER);
	}
}

/* A mapping of code, whose bias makes small addresses of the config those of the data. */
static void publish(const struct runtime_config *config)
{
	struct mapping_entry entries[] = {
		{.start = DATA, .end = DATA + sizeof(data), .bias = DATA},
		{.start = CODE, .end = CODE + sizeof(code), .bias = DATA},
	};
	const u32 at = build_words(&host.build, sizeof(*config) / 4, 16);

	memcpy(build_at(&host.build, at), config, sizeof(*config));
	entries[0].runtime = entries[1].runtime = at;
	host.walk.block = build_block(&host.build, entries, 2);
	host.walk.mappings = 2;
	host.walk.multiplier = 0x9e3779b97f4a7c15ull;
}

int LLVMFuzzerTestOneInput(const u8 *input, size_t size)
{
	struct runtime_config config;

	if (!host.build.next)
		build_init(&host.build);
	build_reset(&host.build);
	host.region[0] = (struct host_region){CODE, sizeof(code), code};
	host.region[1] = (struct host_region){DATA, sizeof(data), data};
	host.region[2] = (struct host_region){STACK, sizeof(stack), stack};
	host.executable = CODE;
	host.executable_end = CODE + sizeof(code);
	host.may_list = host.cold = true;
	take_config(&input, &size, &config);
	take_words(&input, &size, data, sizeof(data) / 8);
	take_words(&input, &size, stack, sizeof(stack) / 8);
	take(&input, &size, code, sizeof(code));
	publish(&config);
	walk_init(&host.walk);
	host.walk.hotspot.key = 0;
	host.walk.deadline = ~0ull;
	memcpy(host.walk.reg, stack, sizeof(host.walk.reg));
	memcpy(host.leaf, stack, sizeof(host.leaf));
	host.walk.reg[REG_RSP] = STACK + (stack[0] & 0x1f8);
	host.walk.address = CODE + (stack[1] & 0xfff);
	host_walk();
	host.walk.list.told = 8;
	host.walk.reason = WALK_GOES_ON;
	if (host.walk.marks && runtime_begin() == 0)
		for (u32 i = 0; i <= WALK_STEPS_MAX && !walk_step(); i++)
			;
	check();
	return 0;
}

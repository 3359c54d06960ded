/* SPDX-License-Identifier: Apache-2.0 */
/* Frames and functions of HotSpot, whose config, code and memory are the input. */
#include <stdint.h>

#include "tests/fuzz/frames_input.h"

int LLVMFuzzerTestOneInput(const u8 *input, size_t size);

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

/*
 * A process in which all is right has a heap of four blobs of 1 KiB. Their places lead to
 * functions, and the stack has frames of compiled functions. Input words that are 0 change nothing.
 */
#define BLOB(n)	  (CODE + (n)*0x400ull + 16)
#define BEGIN	  0x80u /* of the code in a blob */
#define CALLED	  0xe0u /* behind a call */
#define METHOD(n) (DATA + 0x400 + (n)*0x40ull)
#define FRAME	  48u /* bytes */

static const struct runtime_hotspot right = {
	.inside = 0x100,
	.interpreter = 8,
	.returns = 16,
	.heap_low = 24,
	.heap_high = 32,
	.heap_segments = 40,
	.heap_shift = 48,
	.block_bytes = 16,
	.code_start = 24,
	.code_bytes = 52,
	.head_bytes = 64,
	.size = 8,
	.complete = 20,
	.complete_bytes = 4,
	.frame = 16,
	.name = 24,
	.method = 40,
	.own = 48,
	.code = {32, HOTSPOT_POINTER},
	.scopes = {56, HOTSPOT_POINTER},
	.places = {64, HOTSPOT_POINTER},
	.places_end = {72, HOTSPOT_POINTER},
	.functions = {80, HOTSPOT_POINTER},
	.constant_bytes = 64,
	.pool = 8,
	.constant_size = 24,
	.code_size = 32,
	.name_index = 34,
	.signature_index = 36,
	.pool_bytes = 24,
	.pool_class = 8,
	.class_name = 8,
	.file_index = 54,
	.bytecode_below = 64,
};

static void put_code(u64 at, u64 value)
{
	u64 word;

	memcpy(&word, code + (at - CODE), sizeof(word));
	if (!word)
		memcpy(code + (at - CODE), &value, sizeof(value));
}

static void put(u64 at, u64 value)
{
	u64 *to = at >= STACK ? &stack[(at - STACK) / 8] : &data[(at - DATA) / 8];

	if (!*to)
		*to = value;
}

static void put_blob(u32 number)
{
	const u64 blob = BLOB(number);

	put_code(blob + 8, 0x3f0);
	put_code(blob + 16, 16ull << 32 | FRAME / 8);
	put_code(blob + 24, DATA + 0x100);
	put_code(blob + 32, blob + BEGIN);
	put_code(blob + 40, METHOD(number));
	put_code(blob + 56, DATA + 0x200);
	put_code(blob + 64, DATA + 0x300);
	put_code(blob + 72, DATA + 0x320);
	put_code(blob + 80, DATA + 0x280);
	put_code(blob + CALLED - 8, 0xd0ff909090909090ull);
	put(METHOD(number), METHOD(number));
	put(METHOD(number) + 8, METHOD(number));
	put(METHOD(number) + 32, 40);
	put(DATA + 0x280 + number * 8, METHOD(number));
}

static void put_right(void)
{
	for (u32 i = 0; i < 3; i++)
		put(DATA + i * 8, DATA);
	put(DATA + 24, CODE);
	put(DATA + 32, CODE + sizeof(code));
	put(DATA + 40, DATA + 0x180);
	put(DATA + 48, 16ull << 32 | 6);
	put(DATA + 0x100, 0x00646f6874656d6eull); /* nmethod */
	for (u32 i = 0; i < 8; i++)		  /* segments */
		put(DATA + 0x180 + i * 8, i & 1 ? 0x0f0e0d0c0b0a0908ull : 0x0706050403020100ull);
	put(DATA + 0x208, 0x0502100302010cull); /* scopes */
	put(DATA + 0x210, 0x0504030201ull);
	put(DATA + 0x300, 8ull << 32 | (CALLED - BEGIN));
	put(DATA + 0x310, 12ull << 32 | 0x200);
	for (u32 i = 0; i < 4; i++)
		put_blob(i);
	for (u32 i = 0; i < 16; i++)
		put(STACK + 0x200 + i * FRAME + FRAME - 8, BLOB(i & 3) + CALLED);
}

static void take_config(const u8 **input, size_t *size, struct runtime_config *config)
{
	u8 leads = 0, fill = 0;

	filling = 0;
	take(input, size, config, sizeof(*config));
	take(input, size, &leads, 1);
	take(input, size, &fill, 1);
	filling = fill;
	if (leads & 1)
		lead(&config->hotspot);
	if (leads & 2)
		config->flags = RUNTIME_HEAPS;
	if (leads & 4)
		config->hotspot = right;
}

static void check(void)
{
	check_frames();
	assert(host.walk.hotspot.inlined <= HOTSPOT_INLINED_MAX);
}

int LLVMFuzzerTestOneInput(const u8 *input, size_t size)
{
	struct runtime_config config;
	bool is_right;

	put_regions();
	take_config(&input, &size, &config);
	take_regions(&input, &size, word);
	is_right = !memcmp(&config.hotspot, &right, sizeof(right));
	if (is_right)
		put_right();
	publish(&config, DATA);
	put_thread();
	if (is_right) {
		host.walk.reg[REG_RSP] = STACK + 0x200;
		host.walk.address = BLOB(stack[1] & 3) + BEGIN + 0x20 + (stack[2] & 0xff);
	}
	host.walk.hotspot.key = 0;
	host_walk();
	host.walk.list.told = 8;
	host.walk.reason = WALK_GOES_ON;
	if (host.walk.marks && runtime_begin() == 0)
		step_list();
	check();
	return 0;
}

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
}

static void check(void)
{
	check_frames();
	assert(host.walk.hotspot.inlined <= HOTSPOT_INLINED_MAX);
}

int LLVMFuzzerTestOneInput(const u8 *input, size_t size)
{
	struct runtime_config config;

	put_regions();
	take_config(&input, &size, &config);
	take_regions(&input, &size, word);
	publish(&config, DATA);
	put_thread();
	host.walk.hotspot.key = 0;
	host_walk();
	host.walk.list.told = 8;
	host.walk.reason = WALK_GOES_ON;
	if (host.walk.marks && runtime_begin() == 0)
		step_list();
	check();
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A process whose functions have frames on the stack: its config, code and memory are an input. */
#ifndef KEYHOLE_TESTS_FUZZ_FRAMES_INPUT_H
#define KEYHOLE_TESTS_FUZZ_FRAMES_INPUT_H

#include "tests/fuzz/list_input.h"

#define CODE  0x7f0000000000ull
#define DATA  0x600000000000ull
#define STACK 0x7ffe00000000ull

static u8 code[4096];
static u64 data[512];
static u64 stack[256];

/* A process of three regions, of which the code is executable. */
static HOST_UNUSED void put_regions(void)
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
}

static HOST_UNUSED void take_regions(const u8 **input, size_t *size, u64 (*lead)(u64 value))
{
	take_words(input, size, data, sizeof(data) / 8, lead);
	take_words(input, size, stack, sizeof(stack) / 8, lead);
	take(input, size, code, sizeof(code));
}

/* Two mappings. bias: of both, makes small addresses of the config those of a region. */
static HOST_UNUSED void publish(const struct runtime_config *config, u64 bias)
{
	struct mapping_entry entries[] = {
		{.start = DATA, .end = DATA + sizeof(data), .bias = bias},
		{.start = CODE, .end = CODE + sizeof(code), .bias = bias},
	};
	const u32 at = build_words(&host.build, sizeof(*config) / 4, 16);

	memcpy(build_at(&host.build, at), config, sizeof(*config));
	entries[0].runtime = entries[1].runtime = at;
	host.walk.block = build_block(&host.build, entries, 2);
	host.walk.seed++; /* another version of the mappings */
	host.walk.mappings = 2;
	host.walk.multiplier = 0x9e3779b97f4a7c15ull;
}

/* A thread whose registers are the first words of the stack. */
static HOST_UNUSED void put_thread(void)
{
	walk_init(&host.walk);
	begin_time();
	memcpy(host.walk.reg, stack, sizeof(host.walk.reg));
	memcpy(host.leaf, stack, sizeof(host.leaf));
	host.walk.reg[REG_RSP] = STACK + (stack[0] & 0x1f8);
	host.walk.address = CODE + (stack[1] & 0xfff);
}

static HOST_UNUSED void check_frames(void)
{
	assert(host.walk.frames <= RECORD_FRAMES_MAX && host.walk.marks <= RECORD_FRAMES_MAX);
	check_words();
	check_time();
}

#endif

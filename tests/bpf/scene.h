/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process for walks: functions of 256 bytes in one mapping, a stack, and what is expected of a
 * walk. Every walk is done twice, with empty caches and with what the first one left in them.
 */
#ifndef KEYHOLE_TESTS_BPF_SCENE_H
#define KEYHOLE_TESTS_BPF_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/bpf/host.h"

#define SCENE_FUNCTIONS 64u
#define SCENE_BIAS	0x5555000f0000ull
#define SCENE_TEXT	(SCENE_BIAS + 0x10000)
#define SCENE_TEXT_END	(SCENE_TEXT + SCENE_FUNCTIONS * 256)
#define SCENE_STACK	0x7ffe00000000ull
#define SCENE_WORDS	4096u
#define SCENE_STACK_END (SCENE_STACK + SCENE_WORDS * 8)

/* The first byte of function n, and the return address of its call at +0x40. */
#define FUNCTION(n) (SCENE_TEXT + (n)*256ull)
#define RETURN(n)   (FUNCTION(n) + 0x40)
#define EXACT(pc)   ((pc) | FRAME_EXACT)

struct scene {
	u8 text[SCENE_FUNCTIONS * 256];
	u64 stack[SCENE_WORDS];
	u64 rule[SCENE_FUNCTIONS];
	u64 reg[16], pc;
	struct build_table table;
	struct mapping_entry mapping;
	u64 generation;
	u32 forgiving; /* of stalls */
};
static struct scene scene;

static HOST_UNUSED u64 *scene_word(u64 address)
{
	assert(!(address & 7) && address - SCENE_STACK < sizeof(scene.stack));
	return &scene.stack[(address - SCENE_STACK) / 8];
}
#define WORD(address) (*scene_word(address))

static HOST_UNUSED u8 *scene_code(u64 address)
{
	assert(address - SCENE_TEXT < sizeof(scene.text));
	return &scene.text[address - SCENE_TEXT];
}

/* Before each test: functions without rules, each with a call, registers as their numbers. */
static HOST_UNUSED int scene_setup(void **state)
{
	u64 generation = scene.generation;

	(void)state;
	memset(&scene, 0, sizeof(scene));
	scene.generation = generation;
	memset(scene.text, 0x90, sizeof(scene.text));
	memset(scene.stack, 0xa5, sizeof(scene.stack));
	for (u32 i = 0; i < SCENE_FUNCTIONS; i++)
		*scene_code(RETURN(i) - 5) = 0xe8;
	for (u32 i = 0; i < 16; i++)
		scene.reg[i] = 0x1000 + i;
	scene.pc = FUNCTION(0) + 8;
	scene.reg[REG_RSP] = SCENE_STACK + 0x4000;
	scene.mapping = (struct mapping_entry){.flags = MAPPING_HAS_TABLE};
	build_init(&host.build);
	memset(host.region, 0, sizeof(host.region));
	host.region[0] = (struct host_region){SCENE_TEXT, sizeof(scene.text), scene.text};
	host.region[1] = (struct host_region){SCENE_STACK, sizeof(scene.stack), scene.stack};
	host.clock = host.clock_step = 0;
	return 0;
}

static HOST_UNUSED int scene_teardown(void **state)
{
	(void)state;
	build_free(&host.build);
	return 0;
}

/* Makes tables and mapping of the rules so far, under a generation that no cache has seen. */
static HOST_UNUSED void scene_publish(void)
{
	struct build_row rows[SCENE_FUNCTIONS + 1];
	u32 flags = scene.mapping.flags, runtime = scene.mapping.runtime;
	u64 rule = scene.mapping.rule, framed_rule = scene.mapping.framed_rule;

	for (u32 i = 0; i < SCENE_FUNCTIONS; i++)
		rows[i] = (struct build_row){FUNCTION(i) - SCENE_BIAS, scene.rule[i]};
	build_table(&host.build, &scene.table, rows, SCENE_FUNCTIONS, SCENE_TEXT_END - SCENE_BIAS);
	scene.mapping = build_mapping(&scene.table, SCENE_TEXT, SCENE_TEXT_END, SCENE_BIAS);
	scene.mapping.flags = flags;
	scene.mapping.runtime = runtime;
	scene.mapping.rule = rule;
	scene.mapping.framed_rule = framed_rule;
	host.walk.block = build_block(&host.build, &scene.mapping, 1);
	host.walk.mappings = 1;
	host.walk.multiplier = 0x9e3779b97f4a7c15ull;
	host.walk.seed = cache_seed(++scene.generation, 0, host.walk.multiplier);
}

static HOST_UNUSED void scene_walk(void)
{
	walk_init(&host.walk);
	memcpy(host.walk.reg, scene.reg, sizeof(scene.reg));
	host.walk.address = scene.pc;
	/* of an earlier walk on this CPU */
	host.walk.directory = host.walk.dictionary = 5u << SEGMENT_WORD_BITS;
	host.walk.first_page = host.walk.pages = host.walk.mapping_flags = ~0u;
	host.clock = 0;
	host.walk.deadline = 1000;
	host.walk.looked = host.clock;
	host.walk.forgiving = scene.forgiving;
	host_walk();
}

static HOST_UNUSED void scene_expect(const char *file, int line, u32 reason, u32 count,
				     const u64 *frames)
{
	scene_publish();
	for (u32 lap = 0; lap < 2; lap++) {
		scene_walk();
		_assert_int_equal(walk_result(&host.walk), reason, file, line);
		for (u32 i = 0; i < count && i < host.walk.frames; i++)
			_assert_int_equal(host.frame[i] & ~FRAME_BY_POINTER, frames[i], file, line);
		_assert_int_equal(host.walk.frames, count, file, line);
	}
}

/* EXPECT(reason's name, frames from the leaf on) */
#define EXPECT(name, ...)                                                                       \
	scene_expect(__FILE__, __LINE__, REASON_##name, sizeof((const u64[]){__VA_ARGS__}) / 8, \
		     (const u64[]){__VA_ARGS__})

#define RULE(kind, reg, slots, offset) RULE_MAKE(RULE_##kind, reg, slots, offset, 0)
#define RULE_LAST		       RULE(END, 0, 0, 0)

/* Slot k of a register, in the order rbp rbx r12 r13 r14 r15. */
#define SLOT(register, k) ((u64)(k) << (register) * 4)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of Go, and labels of its goroutines. Rules, offsets and memory are the input. */
#include <stdint.h>

#include "tests/fuzz/frames_input.h"

#include "bpf/walk/go_labels.bpf.h"

#define MAPPINGS 2u

int LLVMFuzzerTestOneInput(const u8 *input, size_t size);

/* Mostly a word that is an address in one of the regions; the top bits choose. */
static u64 word(u64 value)
{
	switch (value >> 62) {
	case 0:
		return value & ~0ull >> (value & 63);
	case 1:
		return CODE + (value & 0xfff);
	case 2:
		return DATA + (value & 0xff8);
	default:
		return STACK + (value & 0x7f8);
	}
}

/* The code has one rule: mostly a change of stacks. */
static u64 make_rule(u64 value)
{
	const u32 operands =
		GO_SWITCH_OPERANDS(value & 7, value >> 8 & 1, value >> 9 & 15, value >> 13 & 1);

	if (value >> 60 == 0)
		return RULE_MAKE(RULE_SP, 0, 0, value & 0xf8, 0);
	return RULE_MAKE(RULE_SWITCH, value >> 16 & 15, operands, -(s32)(value >> 24 & 0x1f8), 0);
}

/* Two mappings without tables: so all of their code has the rule. Behind them are the labels. */
static void publish_go(u64 rule, const struct thread_context *context)
{
	const struct mapping_entry entries[MAPPINGS] = {
		{.start = DATA, .end = DATA + sizeof(data), .rule = rule},
		{.start = CODE, .end = CODE + sizeof(code), .rule = rule},
	};
	u32 at;

	host.walk.block = build_block(&host.build, entries, MAPPINGS);
	host.walk.mappings = MAPPINGS;
	host.walk.multiplier = 0x9e3779b97f4a7c15ull;
	at = build_words(&host.build, sizeof(*context) / 4, 16);
	assert(at == context_word(&host.walk));
	memcpy(build_at(&host.build, at), context, sizeof(*context));
}

/*
 * A thread in which all is right runs a goroutine with labels: two pairs of a slice, or one in a
 * map. Input words that are 0 change nothing.
 */
#define THREAD	  (DATA + sizeof(data) / 2)
#define SYSTEM	  (DATA + 0x100)
#define MACHINE	  (DATA + 0x200)
#define GOROUTINE (DATA + 0x300)
#define LABELS	  (DATA + 0x400)
#define BUCKET	  (DATA + 0x500)

static const struct go_labels right = {
	.thread_local_at = -8, .current = GO_CURRENT_116, .labels = 0x78, .number = 0x80};

static void put(u64 at, u64 value)
{
	if (!data[(at - DATA) / 8])
		data[(at - DATA) / 8] = value;
}

static void put_right(u32 form)
{
	put(THREAD - 8, SYSTEM);
	put(SYSTEM + GO_THREAD, MACHINE);
	put(MACHINE + GO_SYSTEM, SYSTEM);
	put(MACHINE + GO_CURRENT_116, GOROUTINE);
	put(GOROUTINE + GO_THREAD, MACHINE);
	put(GOROUTINE + GO_SAVED_SELF, GOROUTINE);
	put(GOROUTINE + GO_STACK_LOW, STACK);
	put(GOROUTINE + GO_STACK_HIGH, STACK + sizeof(stack));
	put(GOROUTINE + GO_SAVED_SP, STACK + 0x100);
	put(GOROUTINE + GO_SAVED_PC, CODE + 0x100);
	put(GOROUTINE + right.number, 7);
	put(GOROUTINE + right.labels, LABELS);
	if (form == GO_LABELS_MAP) {
		put(LABELS, LABELS + 8);
		put(LABELS + 8, 2);
		put(LABELS + 8 + GO_MAP_BUCKETS, BUCKET);
	} else {
		put(LABELS, BUCKET);
		put(LABELS + 8, 2);
	}
	for (u32 i = 0; i < 8; i++) {
		put(BUCKET + i * 16, CODE);
		put(BUCKET + i * 16 + 8, 5 + i);
	}
}

static bool is_right;

static void take_context(const u8 **input, size_t *size, struct thread_context *context)
{
	u8 leads = 0, fill = 0;

	take(input, size, context, sizeof(*context));
	take(input, size, &leads, 1);
	take(input, size, &fill, 1);
	filling = fill;
	if (!leads)
		return;
	is_right = leads & 128;
	if (is_right) {
		context->go = right;
		context->go.form = leads >> 5 & 3;
		return;
	}
	context->go.word = fill & 1 ? word(context->go.word) : 0;
	context->go.thread_local_at = -8 * (s32)(leads & 31);
	context->go.current &= 0xf8;
	context->go.labels &= 0xf8;
	context->go.number &= 0xf8;
	context->go.form = leads >> 5 & 3;
}

int LLVMFuzzerTestOneInput(const u8 *input, size_t size)
{
	struct thread_context context;
	u64 rule;

	put_regions();
	filling = 0;
	is_right = false;
	take(&input, &size, &rule, sizeof(rule));
	take_context(&input, &size, &context);
	take_regions(&input, &size, word);
	if (is_right)
		put_right(context.go.form);
	publish_go(make_rule(rule), &context);
	host.thread = THREAD;
	put_thread();
	host_walk();
	assert(host.walk.switches <= WALK_SWITCHES + 1);
	go_find_labels();
	assert(host.walk.label_count <= GO_LABELS_MAX && host.walk.labels < LABELS_RESULTS);
	check_frames();
	return 0;
}

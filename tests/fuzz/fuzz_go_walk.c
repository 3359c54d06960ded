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

static void take_context(const u8 **input, size_t *size, struct thread_context *context)
{
	u8 leads = 0, fill = 0;

	take(input, size, context, sizeof(*context));
	take(input, size, &leads, 1);
	take(input, size, &fill, 1);
	filling = fill;
	if (!leads)
		return;
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
	take(&input, &size, &rule, sizeof(rule));
	take_context(&input, &size, &context);
	take_regions(&input, &size, word);
	publish_go(make_rule(rule), &context);
	host.thread = DATA + sizeof(data) / 2;
	put_thread();
	host_walk();
	assert(host.walk.switches <= WALK_SWITCHES + 1);
	go_find_labels();
	assert(host.walk.label_count <= GO_LABELS_MAX && host.walk.labels < LABELS_RESULTS);
	check_frames();
	return 0;
}

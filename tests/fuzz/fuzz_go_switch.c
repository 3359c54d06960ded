/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte chooses a function of Go's runtime, and the rest is its code. */
#include <assert.h>
#include <stdint.h>

#include "object/unwind/go_switch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
	"runtime.systemstack",	"runtime.morestack",
	"runtime.mcall",	"runtime.asmcgocall",
	"runtime.cgocallback",	"gogo",
	"crosscall2",		"time.now",
	"runtime.asyncPreempt",
};

static void check(struct go_range *range, const struct go_layout *layout, uint32_t from,
		  size_t size)
{
	assert(range->start >= from && range->end <= size && range->start <= range->end);
	for (s32 distance = -8; distance <= 64; distance += 4) {
		u64 rule = go_switch_rule(range, layout, distance, distance > 0);
		u32 kind = rule_kind(rule);

		assert(kind == RULE_NONE || kind == RULE_SP || kind == RULE_REG ||
		       kind == RULE_DEREF_SP || kind == RULE_SWITCH || kind == RULE_UNSUPPORTED);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct go_layout none = {0};
	struct go_layout layout = none;
	struct go_ranges ranges;
	uint32_t from = 0;

	if (size == 0)
		return 0;
	if (go_switch_layout(size << 4, data + 1, size - 1, &layout)) {
		assert(layout.in_word == (layout.thread_local_at > 0));
		assert(layout.thread_local_at != 0 && layout.number < 2);
	}
	go_switch_find(names[data[0] % (sizeof(names) / sizeof(names[0]))], data[0] & 128, data + 1,
		       size - 1, &ranges);
	assert(ranges.count <= GO_SWITCH_RANGES);
	for (size_t i = 0; i < ranges.count; i++) {
		check(&ranges.range[i], &layout, from, size - 1);
		from = ranges.range[i].end;
	}
	return 0;
}

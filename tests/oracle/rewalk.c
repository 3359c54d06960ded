/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/rewalk.h"

#include <stdlib.h>
#include <string.h>

#define HOST_REGIONS 1024u

#include "tests/bpf/host.h"
#include "tests/oracle/captured.h"
#include "tests/oracle/snapshot.h"
#include "object/unwind/unwind_table.h"

#define MULTIPLIER 0x9e3779b97f4a7c15ull

static const char *const reasons[] = {
#define X(name, class, help) #name,
#include "bpf/counters.def"
#undef X
};

/* ---- tables ---- */

static void publish(struct elf_object *object)
{
	if (object->table && !object->entry.flags)
		build_compiled(&host.build, object->table, &object->entry);
}

static u32 block_of(struct snapshot *snapshot)
{
	struct mapping_entry *entry;

	if (snapshot->block)
		return snapshot->block;
	if (!host.build.next)
		build_init(&host.build);
	entry = calloc(snapshot->count, sizeof(*entry));
	assert(entry);
	for (size_t i = 0; i < snapshot->count; i++) {
		const struct area *area = &snapshot->area[i];

		if (area->object) {
			publish(area->object);
			entry[i] = area->object->entry;
		}
		entry[i].start = area->start;
		entry[i].end = area->end;
		entry[i].bias = area->bias;
	}
	snapshot->block = build_block(&host.build, entry, (u32)snapshot->count);
	free(entry);
	return snapshot->block;
}

/* ---- memory ---- */

static void set_region(u32 *count, u64 start, u64 bytes, const void *data)
{
	if (bytes && *count < HOST_REGIONS)
		host.region[(*count)++] = (struct host_region){start, bytes, data};
}

static const struct snapshot *walked;

static bool is_executable(u64 address)
{
	return snapshot_find(walked, address) != NULL;
}

static void set_memory(const struct stack *stack)
{
	u32 count = 0;

	memset(host.region, 0, sizeof(host.region));
	host.executable_at = is_executable;
	walked = stack->snapshot;
	for (int i = 0; i < 2; i++)
		set_region(&count, stack->part[i].start, stack->part[i].bytes, stack->part[i].data);
	for (size_t i = 0; i < stack->snapshot->count; i++) {
		const struct area *area = &stack->snapshot->area[i];
		u64 bytes = area->end - area->start;

		if (!area->object || area->offset >= area->object->size)
			continue;
		if (bytes > area->object->size - area->offset)
			bytes = area->object->size - area->offset;
		set_region(&count, area->start, bytes, area->object->bytes + area->offset);
	}
}

/* ---- walks ---- */

static void start_walk(const struct stack *stack)
{
	static u64 generation;

	host.walk.block = block_of(stack->snapshot);
	host.walk.mappings = (u32)stack->snapshot->count;
	host.walk.multiplier = MULTIPLIER;
	host.walk.seed = cache_seed(++generation, 0, MULTIPLIER);
	walk_init(&host.walk);
	memcpy(host.walk.reg, stack->reg, sizeof(host.walk.reg));
	host.walk.address = stack->reg[16];
	host.walk.in_sigreturn = stack->in_sigreturn;
	host.walk.deadline = ~0ull;
	host.walk.looked = host.clock;
}

struct rewalk_frames rewalk(const struct stack *stack)
{
	set_memory(stack);
	start_walk(stack);
	host_walk();
	return (struct rewalk_frames){.count = host.walk.frames,
				      .reason = walk_result(&host.walk),
				      .frame = host.frame,
				      .sp = host.walk.reg[REG_RSP],
				      .missed = host.missed};
}

u64 rewalk_rule(const struct stack *stack, u64 frame)
{
	u64 address = FRAME_ADDRESS(frame) - !(frame & FRAME_EXACT);
	const struct area *area = snapshot_find(stack->snapshot, address);

	if (!area || !area->object || !area->object->table)
		return RULE_MAKE(RULE_NONE, 0, 0, 0, 0);
	return unwind_table_rule(area->object->table, address - area->bias);
}

/* ---- regression data ---- */

struct expected {
	u32 count, reason;
	u64 frame[RECORD_FRAMES_MAX], last; /* the address that the walk ended at */
};

static bool walks_so(const struct stack *stack, const struct expected *expected)
{
	struct rewalk_frames frames = rewalk(stack);

	return frames.reason == expected->reason && frames.count == expected->count &&
	       !memcmp(frames.frame, expected->frame, frames.count * sizeof(u64));
}

/* Zeroes a word that the walk does without. */
static void reduce(const struct stack *stack, u64 *word, const struct expected *expected)
{
	u64 value = *word;

	if (!value)
		return;
	*word = 0;
	if (!walks_so(stack, expected))
		*word = value;
}

static int reduce_stack(struct stack *stack, const struct expected *expected)
{
	for (int i = 0; i < 2; i++) {
		struct stack_bytes *part = &stack->part[i];
		u64 *words;

		if (!part->bytes)
			continue;
		words = malloc(part->bytes);
		if (!words)
			return -1;
		memcpy(words, part->data, part->bytes);
		part->data = (u8 *)words;
		for (u64 j = 0; j < part->bytes / 8; j++)
			reduce(stack, &words[j], expected);
	}
	for (u32 i = 0; i < 16; i++)
		if (i != REG_RSP)
			reduce(stack, &stack->reg[i], expected);
	return 0;
}

/* Words of one value at equal distances: what recursion leaves. */
struct run {
	u64 address, value, stride, count;
};

static void write_run(struct run *run, FILE *file)
{
	if (run->count > 1)
		fprintf(file, "word %llx %llx %llx %llx\n", run->address, run->value, run->stride,
			run->count);
	else if (run->count)
		fprintf(file, "word %llx %llx\n", run->address, run->value);
	run->count = 0;
}

static void write_word(struct run *run, u64 address, u64 value, FILE *file)
{
	u64 stride = run->count == 1 ? address - run->address : run->stride;

	if (run->count && value == run->value && address == run->address + stride * run->count) {
		run->stride = stride;
		run->count++;
		return;
	}
	write_run(run, file);
	*run = (struct run){.address = address, .value = value, .count = 1};
}

static void write_frames(const struct expected *expected, FILE *file)
{
	u32 same = 1;

	for (u32 i = 0; i < expected->count; i += same) {
		for (same = 1; i + same < expected->count; same++)
			if (expected->frame[i + same] != expected->frame[i])
				break;
		fprintf(file, "frame %llx %x\n", expected->frame[i], same);
	}
}

static void write_stack(const struct stack *stack, FILE *file)
{
	struct run run = {0};

	for (u32 i = 0; i < CAPTURE_REGISTERS; i++)
		if (stack->reg[i])
			fprintf(file, "reg %u %llx\n", i, stack->reg[i]);
	if (stack->in_sigreturn)
		fprintf(file, "sigreturn\n");
	for (int i = 0; i < 2; i++) {
		const struct stack_bytes *part = &stack->part[i];

		if (part->bytes)
			fprintf(file, "stack %llx %llx\n", part->start, part->bytes);
		for (u64 at = 0; at < part->bytes; at += 8) {
			u64 word;

			memcpy(&word, part->data + at, 8);
			if (word)
				write_word(&run, part->start + at, word, file);
		}
		write_run(&run, file);
	}
}

/* The addresses that rules are asked for, sorted, each once. */
static u32 collect(const struct stack *stack, const struct expected *expected, u64 *inside)
{
	u32 count = 0;

	for (u32 i = 0; i <= expected->count; i++) {
		u64 frame = i < expected->count ? expected->frame[i] : expected->last, at = count;
		bool exact = frame & FRAME_EXACT && !(i == 0 && stack->in_sigreturn);
		u64 address = FRAME_ADDRESS(frame) - !exact;

		while (at > 0 && inside[at - 1] > address)
			at--;
		if (at > 0 && inside[at - 1] == address)
			continue;
		memmove(inside + at + 1, inside + at, (count++ - at) * sizeof(*inside));
		inside[at] = address;
	}
	return count;
}

static void write_rule(const struct area *area, u64 address, FILE *file)
{
	const struct unwind_table *table = area->object ? area->object->table : NULL;
	u64 pc = address - area->bias, rule = table ? unwind_table_rule(table, pc) : 0;
	u32 wide[sizeof(struct rule_wide) / 4];

	if (rule_kind(rule) != RULE_WIDE) {
		fprintf(file, "rule %llx %llx\n", pc, rule);
		return;
	}
	memcpy(wide, &table->dictionary[rule_offset(rule)], sizeof(wide));
	fprintf(file, "wide %llx", pc);
	for (u32 i = 0; i < sizeof(wide) / 4; i++)
		fprintf(file, " %x", wide[i]);
	fprintf(file, "\n");
}

static void write_text(const struct stack *stack, u64 address, FILE *file)
{
	u64 word;

	if (snapshot_read(stack->snapshot, address, 8, &word) == 0)
		fprintf(file, "text %llx %llx\n", address, word);
}

/* Writes the first code of a function without a rule, if that is what a frame's call calls. */
static void write_called(const struct stack *stack, u64 inside, FILE *file)
{
	u64 before, called;

	if (snapshot_read(stack->snapshot, inside - 7, 8, &before) || !code_calls_directly(before))
		return;
	called = inside + 1 + (u64)(s64)(s32)(before >> 32);
	if (rule_kind(rewalk_rule(stack, called | FRAME_EXACT)) == RULE_NONE)
		write_text(stack, called, file);
}

/* Writes the code that is read around a rule's address: a call, or rt_sigreturn's instructions. */
static void write_texts(const struct stack *stack, u64 inside, FILE *file)
{
	static const s8 signal[] = {1, 0, -6, -7, -8, -9};

	if (rule_kind(rewalk_rule(stack, inside | FRAME_EXACT)) != RULE_SIGNAL) {
		write_text(stack, inside - 7, file);
		write_called(stack, inside, file);
		if (rule_kind(rewalk_rule(stack, inside | FRAME_EXACT)) == RULE_NONE)
			write_text(stack, inside, file);
		return;
	}
	for (u32 i = 0; i < sizeof(signal); i++)
		write_text(stack, inside + (u64)(s64)signal[i], file);
}

static void write_code(const struct stack *stack, const struct expected *expected, FILE *file)
{
	static u64 inside[RECORD_FRAMES_MAX + 1];
	u32 count = collect(stack, expected, inside);
	const struct area *area = NULL;

	for (u32 i = 0; i < count; i++) {
		if (!area || inside[i] < area->start || inside[i] >= area->end) {
			area = snapshot_find(stack->snapshot, inside[i]);
			if (!area)
				continue;
			fprintf(file, "map %llx %llx %llx\n", area->start, area->end, area->bias);
		}
		write_rule(area, inside[i], file);
		write_texts(stack, inside[i], file);
	}
}

int rewalk_record(const struct stack *stack, const char *comment, FILE *file)
{
	static struct expected expected;
	struct rewalk_frames frames = rewalk(stack);
	struct stack reduced = *stack;

	if (frames.count != stack->frames || frames.reason != stack->reason ||
	    memcmp(frames.frame, stack->frame, frames.count * sizeof(u64)))
		return -1;
	expected.count = frames.count;
	expected.reason = frames.reason;
	expected.last = host.walk.address;
	memcpy(expected.frame, frames.frame, frames.count * sizeof(u64));
	if (reduce_stack(&reduced, &expected) < 0)
		return -1;
	fprintf(file, "# SPDX-License-Identifier: Apache-2.0\n# %s\n", comment);
	write_stack(&reduced, file);
	write_code(&reduced, &expected, file);
	fprintf(file, "end %s\n", reasons[expected.reason]);
	write_frames(&expected, file);
	free(reduced.part[0].data);
	free(reduced.part[1].data);
	return 0;
}

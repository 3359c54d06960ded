/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stacks [FOLDER]: stacks that were captured from running programs, and
 * the frames that libdw and the walker in the kernel found in them. A file is one stack, all
 * numbers hexadecimal but those of registers:
 *   reg NUMBER VALUE       DWARF numbers, 16 is the pc; what is not named is 0
 *   sigreturn              the leaf is in the kernel's rt_sigreturn
 *   stack START BYTES      memory; zero but for the words that follow
 *   word ADDRESS VALUE [STRIDE COUNT]
 *   map START END BIAS     an executable mapping; rules and text that follow are of it
 *   rule PC RULE           of one byte of the object's address space, as in bpf/abi.h
 *   wide PC WORD...        the same: a struct rule_wide
 *   text ADDRESS VALUE     eight bytes
 *   end REASON             its name
 *   frame VALUE COUNT      as in a record, leaf first, so many times
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HOST_REGIONS 2048u

#include "tests/bpf/host.h"

#define STACKS_MAX 128
#define ROWS_MAX   2048
#define MAPS_MAX   64
#define WORDS_MAX  2048
#define LINE_BYTES 512

static const char *const reasons[] = {
#define X(name, class, help) #name,
#include "bpf/counters.def"
#undef X
};

static struct {
	u64 reg[17];
	bool in_sigreturn;
	u32 regions, memories, maps, rows, words, reason, frames;
	void *memory[2];
	struct build_row row[2 * ROWS_MAX];
	struct mapping_entry map[MAPS_MAX];
	struct build_table table;
	u64 text[WORDS_MAX];
	u64 frame[RECORD_FRAMES_MAX];
} stack;

/* ---- a file ---- */

static void add_region(u64 start, u64 bytes, const void *data)
{
	assert_true(stack.regions < HOST_REGIONS);
	host.region[stack.regions++] = (struct host_region){start, bytes, data};
}

static void add_stack(u64 start, u64 bytes)
{
	void *memory = calloc(1, bytes);

	assert_non_null(memory);
	assert_true(stack.memories < 2);
	stack.memory[stack.memories++] = memory;
	add_region(start, bytes, memory);
}

static void set_word(u64 address, u64 value)
{
	const struct host_region *region = &host.region[stack.regions - 1];

	assert_true(stack.memories > 0 && address - region->start <= region->bytes - 8);
	memcpy((u8 *)region->data + (address - region->start), &value, 8);
}

static void add_text(u64 address, u64 value)
{
	assert_true(stack.words < WORDS_MAX);
	stack.text[stack.words] = value;
	add_region(address, 8, &stack.text[stack.words++]);
}

/* Makes the table of the map so far. */
static void end_map(void)
{
	struct mapping_entry *map;

	if (!stack.maps || !stack.rows)
		return;
	map = &stack.map[stack.maps - 1];
	build_table(&host.build, &stack.table, stack.row, stack.rows,
		    stack.row[stack.rows - 1].pc + 1);
	*map = build_mapping(&stack.table, map->start, map->end, map->bias);
}

static void add_map(u64 start, u64 end, u64 bias)
{
	end_map();
	assert_true(stack.maps < MAPS_MAX);
	stack.map[stack.maps++] = (struct mapping_entry){.start = start, .end = end, .bias = bias};
	stack.table.rules = stack.rows = 0;
}

static void add_rule(u64 pc, u64 rule)
{
	assert_true(stack.maps > 0 && stack.rows + 2 <= 2 * ROWS_MAX);
	if (stack.rows && stack.row[stack.rows - 1].pc == pc)
		stack.rows--;
	stack.row[stack.rows++] = (struct build_row){pc, rule};
	stack.row[stack.rows++] = (struct build_row){pc + 1, RULE_MAKE(RULE_NONE, 0, 0, 0, 0)};
}

static void add_wide(u64 pc, const char *text)
{
	u32 word[sizeof(struct rule_wide) / 4];
	struct rule_wide wide;
	char *end;

	for (u32 i = 0; i < sizeof(word) / 4; i++, text = end) {
		word[i] = (u32)strtoul(text, &end, 16);
		assert_true(end > text);
	}
	memcpy(&wide, word, sizeof(wide));
	add_rule(pc, build_wide(&stack.table, &wide));
}

static bool parse_code(const char *line)
{
	u64 a, b, c;
	int used;

	if (sscanf(line, "text %llx %llx", &a, &b) == 2)
		add_text(a, b);
	else if (sscanf(line, "map %llx %llx %llx", &a, &b, &c) == 3)
		add_map(a, b, c);
	else if (sscanf(line, "rule %llx %llx", &a, &b) == 2)
		add_rule(a, b);
	else if (sscanf(line, "wide %llx%n", &a, &used) == 1)
		add_wide(a, line + used);
	else
		return false;
	return true;
}

static bool parse_input(const char *line)
{
	u64 a, b, stride = 8, count = 1;
	u32 number;

	if (sscanf(line, "reg %u %llx", &number, &a) == 2 && number < 17)
		stack.reg[number] = a;
	else if (!strcmp(line, "sigreturn\n"))
		stack.in_sigreturn = true;
	else if (sscanf(line, "stack %llx %llx", &a, &b) == 2)
		add_stack(a, b);
	else if (sscanf(line, "word %llx %llx %llx %llx", &a, &b, &stride, &count) >= 2)
		for (u64 i = 0; i < count; i++)
			set_word(a + i * stride, b);
	else
		return false;
	return true;
}

static bool parse_result(const char *line)
{
	char reason[32];
	u64 frame;
	u32 count;

	if (sscanf(line, "end %31s", reason) == 1) {
		while (stack.reason < REASON_COUNT && strcmp(reasons[stack.reason], reason) != 0)
			stack.reason++;
		return stack.reason < REASON_COUNT;
	}
	if (sscanf(line, "frame %llx %x", &frame, &count) != 2 ||
	    count > RECORD_FRAMES_MAX - stack.frames)
		return false;
	while (count--)
		stack.frame[stack.frames++] = frame;
	return true;
}

static void read_stack(const char *path)
{
	char line[LINE_BYTES];
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	memset(&stack, 0, sizeof(stack));
	memset(host.region, 0, sizeof(host.region));
	build_init(&host.build);
	while (fgets(line, sizeof(line), file))
		if (line[0] != '#' && !parse_input(line) && !parse_code(line) &&
		    !parse_result(line))
			fail_msg("%s: %s", path, line);
	fclose(file);
	end_map();
}

static void release_stack(void)
{
	for (u32 i = 0; i < stack.memories; i++)
		free(stack.memory[i]);
	build_free(&host.build);
}

/* ---- a walk ---- */

static bool is_mapped(u64 address)
{
	for (u32 i = 0; i < stack.maps; i++)
		if (address - stack.map[i].start < stack.map[i].end - stack.map[i].start)
			return true;
	return false;
}

static void walk_stack(u32 block)
{
	walk_init(&host.walk);
	host.executable_at = is_mapped;
	host.walk.block = block;
	host.walk.mappings = stack.maps;
	memcpy(host.walk.reg, stack.reg, sizeof(host.walk.reg));
	host.walk.address = stack.reg[16];
	host.walk.in_sigreturn = stack.in_sigreturn;
	host.walk.deadline = ~0ull;
	host.walk.looked = host.clock;
	host_walk();
}

static void expect_same(void)
{
	for (u32 i = 0; i < host.walk.frames && i < stack.frames; i++)
		assert_int_equal(host.frame[i], stack.frame[i]);
	assert_int_equal(host.walk.frames, stack.frames);
	assert_string_equal(reasons[walk_result(&host.walk)], reasons[stack.reason]);
}

/* Walks with empty caches, and with the caches of the first walk. */
static void test_stacks__walk(void **state)
{
	static u64 generation;
	u32 block;

	read_stack(*state);
	assert_true(stack.maps > 0 && stack.frames > 0);
	block = build_block(&host.build, stack.map, stack.maps);
	host.walk.multiplier = 0x9e3779b97f4a7c15ull;
	host.walk.seed = cache_seed(++generation, 0, host.walk.multiplier);
	walk_stack(block);
	expect_same();
	walk_stack(block);
	expect_same();
	release_stack();
}

/* ---- all of a folder ---- */

static int no_dots(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	static struct CMUnitTest tests[STACKS_MAX];
	const char *folder = argc > 1 ? argv[1] : "tests/bpf/stacks";
	static struct dirent **entries;
	int count = scandir(folder, &entries, no_dots, alphasort);

	if (count <= 0 || count > STACKS_MAX) {
		fprintf(stderr, "%s: %d stacks\n", folder, count);
		return 1;
	}
	for (int i = 0; i < count; i++) {
		char *path;

		if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
			return 1;
		tests[i] = (struct CMUnitTest){.name = entries[i]->d_name,
					       .test_func = test_stacks__walk,
					       .initial_state = path};
	}
	return _cmocka_run_group_tests("stacks", tests, (size_t)count, NULL, NULL);
}

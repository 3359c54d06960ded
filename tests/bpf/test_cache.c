/* SPDX-License-Identifier: Apache-2.0 */
/* A hit in the rule cache equals a table look-up: same rule, same process, same range. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/bpf/host.h"

#define START 0x400000ull
#define ROWS  2000u

static struct build_table table;
static struct build_row rows[ROWS];
static u64 seed = 0xfeed5eed;

static int teardown(void **state)
{
	(void)state;
	build_free(&host.build);
	return 0;
}

/* A process of one mapping with random rules; none is wide, signal or end. */
static int setup(void **state)
{
	u64 pc = START, bias = 0x100000;

	(void)state;
	build_init(&host.build);
	for (u32 i = 0; i < ROWS; i++) {
		rows[i].pc = pc;
		rows[i].rule = RULE_MAKE(build_random(&seed) % 3, 0, build_random(&seed) % 3,
					 8 * (build_random(&seed) % 20), 0);
		pc += 1 + build_random(&seed) % 70;
	}
	build_table(&host.build, &table, rows, ROWS, pc);
	struct mapping_entry entry =
		build_mapping(&table, START + bias, (pc + bias + 4095) & ~4095ull, bias);

	host.walk.block = build_block(&host.build, &entry, 1);
	host.walk.mappings = 1;
	host.walk.multiplier = build_random(&seed) | 1;
	return 0;
}

/* ---- through the walk ---- */

static void expect_rule(u64 address)
{
	struct walk *walk = &host.walk;

	walk->reg[REG_RSP] = 0x7ff000000000 + build_random(&seed) % 65536 * 8;
	walk->rule = ~0ull;
	assert_int_equal(walk_find_rule(walk, address), 0);
	assert_int_equal(walk->rule, build_naive(&table, rows, ROWS, address - 0x100000));
}

static void random_look_ups(u64 hot, u32 count)
{
	u64 span = rows[ROWS - 1].pc - START;

	for (u32 i = 0; i < count; i++) {
		u64 at = build_random(&seed);

		expect_rule(START + 0x100000 + (at & 1 ? at / 2 % hot : at / 2 % span));
	}
}

static void test_cache__hit_equals_table(void **state)
{
	struct walk *walk = &host.walk;

	(void)state;
	walk_init(walk);
	walk->seed = cache_seed(1, 1, walk->multiplier);
	random_look_ups(3000, 50000);
	assert_true(walk->trail_hits > 100 && walk->text_hits > 1000 && walk->misses > 1000);
	u64 all = walk->trail_hits + walk->text_hits + walk->misses;

	host.cold = true;
	random_look_ups(3000, 100);
	host.cold = false;
	assert_int_equal(all, 50000);
	assert_int_equal(walk->misses + walk->text_hits + walk->trail_hits, all + 100);
}

/* Two processes with the same addresses and different tables never see each other's rules. */
static void test_cache__processes_do_not_mix(void **state)
{
	struct walk *walk = &host.walk;

	(void)state;
	for (u32 i = 0; i < 60; i++) {
		for (u32 k = 0; k < ROWS; k++)
			rows[k].rule ^= RULE_MAKE(0, 0, 0, 8 * (i % 7), 0);
		table.rules = 0;
		build_table(&host.build, &table, rows, ROWS, rows[ROWS - 1].pc + 70);
		struct mapping_entry entry = build_mapping(&table, START + 0x100000,
							   rows[ROWS - 1].pc + 0x200000, 0x100000);

		host.walk.block = build_block(&host.build, &entry, 1);
		walk_init(walk);
		walk->seed = cache_seed(process_slot_key(7 + i / 20, 1 + i / 10), i % 10,
					walk->multiplier);
		random_look_ups(1000, 1000);
	}
}

/* ---- entries ---- */

static u64 probe(const struct cache_line *line, u64 address, u64 generation, u64 version,
		 u64 *ret_rule)
{
	u64 multiplier = host.walk.multiplier, found;
	u64 key = cache_key(address, cache_seed(generation, version, multiplier), multiplier);

	found = cache_probe(line, key, address & 63, multiplier, ret_rule);
	assert_true(found == CACHE_MISS || found >> 12 == key >> 12);
	return found;
}

static void put(struct cache_line *line, u64 way, u64 address, u64 first, u64 last, u64 rule)
{
	u64 multiplier = host.walk.multiplier;
	u64 key = cache_key(address, cache_seed(5, 9, multiplier), multiplier);

	cache_put(line, way, cache_pack(key, first, last), rule, multiplier);
}

static void test_cache__other_generation_or_version_never_hits(void **state)
{
	struct cache_line line;
	u64 rule;

	(void)state;
	for (u32 i = 0; i < 2000; i++) {
		u64 address = build_random(&seed) % WALK_ADDRESS_END;

		memset(&line, 0, sizeof(line));
		host.walk.multiplier = build_random(&seed) | 1;
		put(&line, i, address, 0, 63, i);
		for (u64 generation = 0; generation < 12; generation++)
			for (u64 version = 0; version < 12; version++) {
				bool own = generation == 5 && version == 9;

				assert_true((probe(&line, address, generation, version, &rule) !=
					     CACHE_MISS) == own);
			}
		assert_int_equal(probe(&line, address ^ 64, 5, 9, &rule), CACHE_MISS);
		assert_int_equal(probe(&line, address ^ 1ull << (6 + i % 41), 5, 9, &rule),
				 CACHE_MISS);
	}
}

static void test_cache__range_ends(void **state)
{
	struct cache_line line = {0};
	u64 granule = 0x7f0000001000, rule;

	(void)state;
	for (u64 first = 0; first < 64; first++)
		for (u64 last = first; last < 64; last++) {
			put(&line, first, granule, first, last, first << 32 | last);
			for (u64 at = 0; at < 64; at++) {
				bool in = at >= first && at <= last;
				u64 found = probe(&line, granule + at, 5, 9, &rule);

				assert_true((found != CACHE_MISS) == in);
				assert_true(!in || rule == (first << 32 | last));
			}
			memset(&line, 0, sizeof(line));
		}
}

static void test_cache__empty_line_misses(void **state)
{
	struct cache_line line = {0};
	u64 rule;

	(void)state;
	for (u32 i = 0; i < 100000; i++)
		assert_int_equal(probe(&line, build_random(&seed), i, 0, &rule), CACHE_MISS);
}

static void test_cache__ways_keep_four_ranges(void **state)
{
	struct cache_line line = {0};
	u64 rule;

	(void)state;
	for (u64 way = 0; way < CACHE_WAYS; way++)
		put(&line, way + 400, START, way * 16, way * 16 + 15, way);
	for (u64 at = 0; at < 64; at++) {
		assert_int_not_equal(probe(&line, START + at, 5, 9, &rule), CACHE_MISS);
		assert_int_equal(rule, at / 16);
	}
}

/* ---- torn entries ---- */

/* k of one store and d of another: every pair whose rules differ in their low 12 bits alone. */
static void test_cache__torn_pair_never_hits(void **state)
{
	struct cache_line one, other;
	u64 rule;

	(void)state;
	for (u32 i = 0; i < 300; i++) {
		u64 d = build_random(&seed), last = build_random(&seed) & 63;

		host.walk.multiplier = build_random(&seed) | 1;
		for (u64 flip = 1; flip < 4096; flip++) {
			memset(&one, 0, sizeof(one));
			memset(&other, 0, sizeof(other));
			put(&one, 0, START, 0, last, d);
			put(&other, 0, START, 0, last, d ^ flip);
			one.way[0].d = other.way[0].d;
			for (u64 at = 0; at < 128; at += last + 1)
				assert_int_equal(probe(&one, START + at, 5, 9, &rule), CACHE_MISS);
		}
	}
}

/* The same for a difference in any one bit, or in two. */
static void test_cache__torn_pair_of_any_bits_never_hits(void **state)
{
	struct cache_line line = {0};
	u64 rule;

	(void)state;
	for (u32 i = 0; i < 300; i++) {
		host.walk.multiplier = build_random(&seed) | 1;
		for (u32 a = 0; a < 64; a++)
			for (u32 b = 0; b < 64; b++) {
				put(&line, 0, START, 0, 63, build_random(&seed));
				line.way[0].d ^= a == b ? 1ull << a : 1ull << a | 1ull << b;
				assert_int_equal(probe(&line, START, 5, 9, &rule), CACHE_MISS);
			}
	}
}

static struct {
	struct cache_line line;
	atomic_bool stop;
} shared;

/* Writer 0 stores rules with bit 12 clear for START, writer 1 with bit 12 set for START + 64. */
static void *write_entries(void *argument)
{
	u64 number = (u64)(uintptr_t)argument, random = number + 1;

	while (!atomic_load(&shared.stop)) {
		u64 rule =
			RULE_MAKE(0, 0, 0, 1000, 0) | number << 12 | build_random(&random) % 4096;

		put(&shared.line, 1, START + 64 * number, rule & 31, 32 | (rule & 31), rule);
	}
	return NULL;
}

static void test_cache__racing_writers_never_mix(void **state)
{
	pthread_t writer[2];
	u64 hits = 0, rule;

	(void)state;
	host.walk.multiplier = build_random(&seed) | 1;
	for (uintptr_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&writer[i], NULL, write_entries, (void *)i), 0);
	for (u32 i = 0; i < 40000000 && hits < 1000000; i++) {
		u64 number = i & 1,
		    found = probe(&shared.line, START + 64 * number + 31, 5, 9, &rule);

		if (found == CACHE_MISS)
			continue;
		hits++;
		assert_int_equal(rule >> 12, (RULE_MAKE(0, 0, 0, 1000, 0) >> 12) | number);
		assert_int_equal(found >> 6 & 63, rule & 31);
		assert_int_equal(found & 63, 32 | (rule & 31));
	}
	atomic_store(&shared.stop, true);
	pthread_join(writer[0], NULL);
	pthread_join(writer[1], NULL);
	assert_true(hits > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cache__hit_equals_table),
		cmocka_unit_test(test_cache__processes_do_not_mix),
		cmocka_unit_test(test_cache__other_generation_or_version_never_hits),
		cmocka_unit_test(test_cache__range_ends),
		cmocka_unit_test(test_cache__empty_line_misses),
		cmocka_unit_test(test_cache__ways_keep_four_ranges),
		cmocka_unit_test(test_cache__torn_pair_never_hits),
		cmocka_unit_test(test_cache__torn_pair_of_any_bits_never_hits),
		cmocka_unit_test(test_cache__racing_writers_never_mix),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

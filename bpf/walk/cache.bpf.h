/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rules of recently walked addresses, in front of the tables. Pure C: also compiled for the
 * host.
 *
 * There are two arrays of 64-byte lines with four entries each. 128 bytes of stack choose a line of
 * "trail"; the hash of a 64-byte granule of text chooses a line of "text". Both only choose where
 * to look. The key of an entry is (granule, family, version). So a hit is the same as a table
 * look-up, and the cache remembers nothing of the stack. Only BPF writes the lines, and no process
 * maps them.
 *
 * In an entry, d is the rule and k is (tag | first << 6 | last) ^ d * odd. The tag is the top 52
 * bits of the key; the rule holds for the bytes [first, last] of the granule. Two CPUs may write an
 * entry at once: a probe refuses k and d of different writers. The reason is that the product
 * spreads a difference in any bit of d, low ones included, over the compared bits. The multiplier
 * is random for each start and unknown outside: a target cannot choose addresses that collide.
 */
#ifndef KEYHOLE_BPF_WALK_CACHE_BPF_H
#define KEYHOLE_BPF_WALK_CACHE_BPF_H

#include "bpf/walk/walk.bpf.h"

#define CACHE_TRAIL 4096u /* lines */
#define CACHE_TEXT  2048u
#define CACHE_WAYS  4u
#define CACHE_MISS  (~0ull)

struct cache_entry {
	u64 k, d;
};
struct cache_line {
	struct cache_entry way[CACHE_WAYS];
};
struct rule_cache {
	struct cache_line trail[CACHE_TRAIL];
	struct cache_line text[CACHE_TEXT];
};

/* Returns d * odd with high bits folded down: every bit of d reaches the compared bits 12..63. */
static inline __attribute__((always_inline)) u64 cache_spread(u64 d, u64 multiplier)
{
	u64 product = (d ^ d >> 32) * multiplier;

	return product ^ product >> 29;
}

static inline __attribute__((always_inline)) u64 cache_key(u64 address, u64 seed, u64 multiplier)
{
	u64 key = ((address >> 6) + seed) * multiplier;

	return (key ^ key >> 32) * multiplier;
}

static inline __attribute__((always_inline)) u64 cache_seed(u64 family, u64 version, u64 multiplier)
{
	return (family * multiplier ^ version) * multiplier;
}

/* Returns the entry's packed key (tag and range) and the rule after a hit, or CACHE_MISS. */
static inline __attribute__((always_inline)) u64
cache_probe(const struct cache_line *line, u64 key, u64 offset, u64 multiplier, u64 *ret_rule)
{
	NOT_UNROLLED
	for (u32 i = 0; i < CACHE_WAYS; i++) {
		u64 d = *(const volatile u64 *)&line->way[i].d;
		u64 k = *(const volatile u64 *)&line->way[i].k ^ cache_spread(d, multiplier);

		if (!((k ^ key) >> 12) && offset - (k >> 6 & 63) <= (k & 63) - (k >> 6 & 63)) {
			*ret_rule = d;
			return k;
		}
	}
	return CACHE_MISS;
}

static inline __attribute__((always_inline)) void cache_put(struct cache_line *line, u64 way, u64 k,
							    u64 rule, u64 multiplier)
{
	struct cache_entry *entry = &line->way[way & (CACHE_WAYS - 1)];

	*(volatile u64 *)&entry->k = k ^ cache_spread(rule, multiplier);
	*(volatile u64 *)&entry->d = rule;
}

/* Packs the key of an entry. first, last: bytes of the granule, 0..63. */
static inline __attribute__((always_inline)) u64 cache_pack(u64 key, u64 first, u64 last)
{
	return (key & ~0xfffull) | first << 6 | last;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules of recently walked addresses, in front of the tables. Pure C: also compiled for the host.
 *
 * Two arrays of 64-byte lines with four entries each: one line per 256 bytes of stack ("trail"),
 * and one found by a hash of the 64-byte text granule ("text"). Both only choose where to look; an
 * entry is keyed by (granule, family, version), so that a hit is a table look-up and nothing of
 * the stack is remembered. Only BPF writes them and no process maps them.
 *
 * entry: d = the rule; k = (tag | first << 6 | last) ^ d * odd, where tag is the top 52 bits of the
 * key and [first, last] the bytes of the granule that the rule holds for. Two CPUs may write an
 * entry at once: k and d of different writers do not pass, because the product spreads a difference
 * in any bit of d over the bits that are compared, low ones included. The multiplier is random for
 * each start and unknown outside, so a target cannot choose addresses that collide.
 */
#ifndef KEYHOLE_BPF_WALK_CACHE_BPF_H
#define KEYHOLE_BPF_WALK_CACHE_BPF_H

#include "bpf/abi.h"

#define CACHE_LINES 2048u
#define CACHE_WAYS  4u
#define CACHE_MISS  (~0ull)

struct cache_entry {
	u64 k, d;
};
struct cache_line {
	struct cache_entry way[CACHE_WAYS];
};
struct rule_cache {
	struct cache_line trail[CACHE_LINES];
	struct cache_line text[CACHE_LINES];
};

/* d * odd, high bits folded down: every bit of d reaches bits 12..63, which are compared. */
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

/* The entry's packed key (tag and range), or CACHE_MISS; *ret_rule on a hit. */
static inline __attribute__((always_inline)) u64
cache_probe(const struct cache_line *line, u64 key, u64 offset, u64 multiplier, u64 *ret_rule)
{
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

/* first and last: bytes of the granule, 0..63. */
static inline __attribute__((always_inline)) u64 cache_pack(u64 key, u64 first, u64 last)
{
	return (key & ~0xfffull) | first << 6 | last;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "object/unwind/dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/guard.h"
#include "object/unwind/unwind_table.h"

#define TABLE_SLOTS	      65536u
#define WIDE_SLOTS	      8192u
#define DICTIONARY_PROBES_MAX 64u /* bounds the cost of rules that were chosen to collide */
#define WIDE_ENTRIES	      (sizeof(struct rule_wide) / sizeof(u64))

/* Open addressing; a slot holds a number + 1. */
struct dictionary {
	u64 rule[DICTIONARY_RULES_MAX];
	u16 slot[TABLE_SLOTS];
	struct rule_wide wide[DICTIONARY_WIDE_MAX];
	u16 wide_slot[WIDE_SLOTS];
	u32 count, wide_count;
	u16 last; /* the last result, as rows of neighbouring functions repeat rules */
};

struct dictionary *dictionary_new(void)
{
	struct dictionary *dictionary = calloc(1, sizeof(*dictionary));

	if (!dictionary)
		return NULL;
	dictionary_add(dictionary, RULE_NONE);
	dictionary_add(dictionary, RULE_UNSUPPORTED);
	return dictionary;
}

void dictionary_free(struct dictionary *dictionary)
{
	free(dictionary);
}

static u64 mix(u64 value)
{
	value *= 0x9e3779b97f4a7c15;
	value ^= value >> 29;
	return value * 0xbf58476d1ce4e5b9;
}

static u16 find_or_add(struct dictionary *dictionary, u64 rule)
{
	u32 at = mix(rule) >> 48;

	for (u32 probe = 0; probe < DICTIONARY_PROBES_MAX; probe++, at = (at + 1) % TABLE_SLOTS) {
		u16 *slot = &dictionary->slot[at];

		if (*slot != 0 && dictionary->rule[*slot - 1] == rule)
			return *slot - 1;
		if (*slot != 0)
			continue;
		if (dictionary->count == DICTIONARY_RULES_MAX)
			break;
		dictionary->rule[dictionary->count++] = rule;
		*slot = (u16)dictionary->count;
		return *slot - 1;
	}
	return DICTIONARY_UNSUPPORTED;
}

u16 dictionary_add(struct dictionary *dictionary, u64 rule)
{
	if (dictionary->rule[dictionary->last] != rule || dictionary->count == 0)
		dictionary->last = find_or_add(dictionary, rule);
	return dictionary->last;
}

u16 dictionary_add_wide(struct dictionary *dictionary, u64 rule, const struct rule_wide *wide)
{
	u64 words[WIDE_ENTRIES], hash = 0;
	u32 at;

	memcpy(words, wide, sizeof(words));
	for (u32 i = 0; i < WIDE_ENTRIES; i++)
		hash = mix(hash ^ words[i]);
	at = hash >> 51;
	for (u32 probe = 0; probe < DICTIONARY_PROBES_MAX; probe++, at = (at + 1) % WIDE_SLOTS) {
		u16 *slot = &dictionary->wide_slot[at];

		if (*slot == 0) {
			if (dictionary->wide_count == DICTIONARY_WIDE_MAX)
				break;
			dictionary->wide[dictionary->wide_count++] = *wide;
			*slot = (u16)dictionary->wide_count;
		}
		if (memcmp(&dictionary->wide[*slot - 1], wide, sizeof(*wide)) == 0)
			return dictionary_add(dictionary, rule | (u64)(*slot - 1) << 32);
	}
	return DICTIONARY_UNSUPPORTED;
}

u32 dictionary_count(const struct dictionary *dictionary)
{
	return dictionary->count;
}

u64 dictionary_rule(const struct dictionary *dictionary, u16 number)
{
	return dictionary->rule[number];
}

struct use {
	u32 uses;
	u16 number;
};

static int compare_uses(const void *a, const void *b)
{
	const struct use *left = a, *right = b;

	if (left->uses != right->uses)
		return (left->uses < right->uses) - (left->uses > right->uses);
	return left->number - right->number;
}

/* Orders the rules by use, without unused ones. Returns their number. */
static u32 order_rules(const struct dictionary *dictionary, const u32 *uses, struct use *ret_order)
{
	u32 used = 0;

	for (u32 number = 0; number < dictionary->count; number++) {
		if (uses[number] > 0)
			ret_order[used++] = (struct use){uses[number], (u16)number};
	}
	qsort(ret_order, used, sizeof(*ret_order), compare_uses);
	return used;
}

int dictionary_layout(const struct dictionary *dictionary, const u32 *uses, u16 *ret_index,
		      struct unwind_table *table)
{
	struct use *by_use guard_free = malloc(dictionary->count * sizeof(*by_use));
	u32 used, wide_at;
	u64 *entries;

	if (!by_use)
		return -ENOMEM;
	used = order_rules(dictionary, uses, by_use);
	wide_at = used;
	if (dictionary->wide_count > 0)
		wide_at = (used + 1) & ~1u;
	table->rules = used;
	table->dictionary_count = wide_at + dictionary->wide_count * (u32)WIDE_ENTRIES;
	entries = calloc(table->dictionary_count, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (u32 i = 0; i < used; i++) {
		u64 rule = dictionary->rule[by_use[i].number];

		if (rule_kind(rule) == RULE_WIDE)
			rule = RULE_MAKE(RULE_WIDE, 0, 0,
					 wide_at + rule_offset(rule) * (s64)WIDE_ENTRIES,
					 rule_flags(rule));
		entries[i] = rule;
		ret_index[by_use[i].number] = (u16)i;
	}
	memcpy(entries + wide_at, dictionary->wide,
	       dictionary->wide_count * sizeof(*dictionary->wide));
	table->dictionary = entries;
	return 0;
}

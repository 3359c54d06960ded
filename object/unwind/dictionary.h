/* SPDX-License-Identifier: Apache-2.0 */
/* The different rules of one object, numbered in the order in which they were met. */
#ifndef KEYHOLE_OBJECT_UNWIND_DICTIONARY_H
#define KEYHOLE_OBJECT_UNWIND_DICTIONARY_H

#include "bpf/abi.h"

struct dictionary;

enum {
	DICTIONARY_NONE,
	DICTIONARY_UNSUPPORTED
}; /* numbers that are always there */

#define DICTIONARY_RULES_MAX 32768u
#define DICTIONARY_WIDE_MAX  4096u

struct dictionary *dictionary_new(void); /* NULL: no memory */
void dictionary_free(struct dictionary *dictionary);
/* The number of a rule that is not RULE_WIDE; DICTIONARY_UNSUPPORTED when it is full. */
u16 dictionary_add(struct dictionary *dictionary, u64 rule);
/* The number of a RULE_WIDE, its offset being filled in. */
u16 dictionary_add_wide(struct dictionary *dictionary, u64 rule, const struct rule_wide *wide);
u32 dictionary_count(const struct dictionary *dictionary);
u64 dictionary_rule(const struct dictionary *dictionary, u16 number);
/*
 * Lays the rules out as bpf/abi.h says: those with most uses first, wide ones behind them all.
 * uses[] has dictionary_count() entries. Gives the entries (malloc) and each number's new index.
 */
int dictionary_layout(const struct dictionary *dictionary, const u32 *uses, u16 *ret_index,
		      u64 **ret_entries, u32 *ret_count);

#endif

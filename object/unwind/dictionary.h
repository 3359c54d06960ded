/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers the different rules of one object, in the order of their first use. */
#ifndef KEYHOLE_OBJECT_UNWIND_DICTIONARY_H
#define KEYHOLE_OBJECT_UNWIND_DICTIONARY_H

#include "bpf/abi.h"

struct dictionary;
struct unwind_table;

enum {
	DICTIONARY_NONE,
	DICTIONARY_UNSUPPORTED
}; /* numbers that are always there */

#define DICTIONARY_RULES_MAX 32768u
#define DICTIONARY_WIDE_MAX  4096u

struct dictionary *dictionary_new(void); /* NULL: no memory */
void dictionary_free(struct dictionary *dictionary);
/*
 * Returns the number of a rule other than RULE_WIDE; a full dictionary gives
 * DICTIONARY_UNSUPPORTED.
 */
u16 dictionary_add(struct dictionary *dictionary, u64 rule);
/* Fills in the offset of a RULE_WIDE, and returns the rule's number. */
u16 dictionary_add_wide(struct dictionary *dictionary, u64 rule, const struct rule_wide *wide);
u32 dictionary_count(const struct dictionary *dictionary);
u64 dictionary_rule(const struct dictionary *dictionary, u16 number);
/*
 * Lays the rules out as bpf/abi.h says: the most used rules first, the entries of wide rules last.
 * uses[] has dictionary_count() entries. Fills in the table's dictionary, which the caller frees,
 * and its counts, and in ret_index[] the new index of each number. Returns 0 or -ENOMEM.
 */
int dictionary_layout(const struct dictionary *dictionary, const u32 *uses, u16 *ret_index,
		      struct unwind_table *table);

#endif

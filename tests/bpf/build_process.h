/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds mapping blocks, dictionaries, directories and chunks from the layout text of bpf/abi.h
 * alone, slowly and plainly. The tests hold the walker's look-ups against this second opinion.
 */
#ifndef KEYHOLE_TESTS_BPF_BUILD_PROCESS_H
#define KEYHOLE_TESTS_BPF_BUILD_PROCESS_H

#include <stddef.h>

#include "bpf/abi.h"

/* Segments, filled from word 16 on; one that was never needed stays NULL. */
struct build {
	struct segment *segment[SEGMENT_MAX];
	u32 next;
};

void build_init(struct build *build);
void build_reset(struct build *build); /* keeps the segments, zeroed as far as they were used */
void build_free(struct build *build);
/*
 * Takes `words` of one segment, the first a multiple of `align`. Returns their global word number.
 */
u32 build_words(struct build *build, u32 words, u32 align);
u32 *build_at(struct build *build, u32 word);

/* From pc on holds `rule`. */
struct build_row {
	u64 pc, rule;
};

#define BUILD_RULES_MAX 8192u
struct build_table {
	u32 first_page, pages, directory, dictionary;
	u32 rules;
	u64 rule[BUILD_RULES_MAX];
};

/* Returns the dictionary index of a rule, and adds a new one. Numbers go by order of arrival. */
u32 build_rule(struct build_table *table, u64 rule);
/* Returns the RULE_WIDE rule for a wide rule. */
u64 build_wide(struct build_table *table, const struct rule_wide *wide);
/* Rows ascend by pc; the table covers whole pages up to end. */
void build_table(struct build *build, struct build_table *table, const struct build_row *rows,
		 size_t count, u64 end);
/* Looks at every row and returns the rule in force at pc; 0 = none. */
u64 build_naive(const struct build_table *table, const struct build_row *rows, size_t count,
		u64 pc);

/* Entries ascend by start; returns the block's word number. */
u32 build_block(struct build *build, const struct mapping_entry *entries, u32 count);
/* Stores a table as the worker compiled it, and sets the entry's fields about the table. */
struct unwind_table;
void build_compiled(struct build *build, const struct unwind_table *from,
		    struct mapping_entry *entry);
/* Returns an entry for a table at start..end. */
struct mapping_entry build_mapping(const struct build_table *table, u64 start, u64 end, u64 bias);

/* xorshift64*; the state may not be 0. */
u64 build_random(u64 *state);

#endif

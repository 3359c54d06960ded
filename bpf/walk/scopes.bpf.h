/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scopes of an interpreter (RUNTIME_SCOPES). Pure C. The includer supplies the environment that
 * bpf/walk/runtime.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_SCOPES_BPF_H
#define KEYHOLE_BPF_WALK_SCOPES_BPF_H

#include "bpf/walk/late.bpf.h"
#include "bpf/walk/list.bpf.h"
#include "bpf/walk/memory.bpf.h"
#include "bpf/walk/scope_name.bpf.h"
#include "bpf/walk/walk.bpf.h"

/* cop.h of Perl 5.32 to 5.44: in the type of a scope */
#define SCOPE_TYPE	 0xfu
#define SCOPE_SORT	 0u /* CXt_NULL: the block of sort */
#define SCOPE_BLOCK	 2u
#define SCOPE_SUB	 9u
#define SCOPE_FORMAT	 10u
#define SCOPE_EVAL	 11u
#define SCOPE_DEFER	 13u   /* from 5.36 on: a deferred block, which a loop of its own runs */
#define SCOPE_EVAL_BLOCK 0x40u /* CXp_EVALBLOCK */
#define SCOPE_AGAIN	 0x80u /* CXp_SUB_RE_FAKE, CXp_TRY: caller() leaves these out */
#define STATEMENT_KIND	 0x1ffu
#define SCOPE_FILE_WORDS 8u /* of the name of a file: they tell files apart */

/* ---- frames ---- */

/* Reads a function into the place of known code. Returns 0 when it is one. */
INLINE int runtime_learn_function(struct walk *walk, u64 function)
{
	if (runtime_read_word(function + SCALAR_FLAGS))
		return 1;
	struct runtime_list *list = &walk->list;
	const struct runtime_scopes *config = &list->config.scopes;
	struct runtime_code *known = &list->known[function >> 5 & (RUNTIME_CODES - 1)];
	u64 type = SCALAR_TYPE(list->word);

	if ((type != SCALAR_FUNCTION && type != SCALAR_FORMAT) || runtime_read_word(function) ||
	    runtime_read(list->code_bytes, list->word))
		return 1;
	known->code = function;
	known->copy = runtime_u64(list, config->root);
	if (!known->copy)
		known->copy = function;
	known->fingerprint = runtime_mix(runtime_mix(runtime_u64(list, config->name),
						     runtime_u64(list, config->start)),
					 runtime_u64(list, config->package)) >>
				     32 |
			     1;
	list->is_learned = 1;
	return 0;
}

/* Returns a hash of a text, as far as it is read. */
GLOBAL u32 runtime_text_hash(u64 text)
{
	struct walk *walk = walk_state();

	if (!walk || !runtime_is_address(text))
		return 0;
	struct runtime_list *list = &walk->list;
	u64 bytes = SCOPE_FILE_WORDS * 8, left = 4096 - (text & 4095), hash = 0;

	if (left < bytes)
		bytes = left;
	if (runtime_read(bytes, text))
		return 0;
	NOT_UNROLLED
	for (u32 i = 0; i < SCOPE_FILE_WORDS && i * 8 < bytes; i++) {
		u64 word = list->memory[i & (RUNTIME_MEMORY_WORDS - 1)];
		/* the highest bit of the first byte that is 0, and of some behind it */
		u64 ends = (word - 0x0101010101010101ull) & ~word & 0x8080808080808080ull;

		if (ends)
			return runtime_mix(hash, word & ((ends & -ends) - 1)) >> 32;
		hash = runtime_mix(hash, word);
	}
	return hash >> 32;
}

#define SCOPE_TEXT_AT 8u /* struct hek of hv.h: behind a hash and the length */

/* Returns the address of the text of a statement's file, or 0. */
GLOBAL u64 runtime_statement_file(u64 statement)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct runtime_list *list = &walk->list;
	const struct runtime_scopes *config = &list->config.scopes;

	if (runtime_read_word(statement + config->file))
		return 0;
	if (!(list->config.flags & RUNTIME_FILE_NAMED))
		return list->word;
	if (runtime_read_word(list->word) || runtime_read_word(list->word + config->text) ||
	    !list->word)
		return 0;
	return list->word + SCOPE_TEXT_AT;
}

/* Returns the fingerprint of a frame without a function, whose statement is known: of its file. */
INLINE u32 runtime_file_print(struct walk *walk, u32 kind)
{
	struct runtime_list *list = &walk->list;
	u64 statement = list->statement;
	struct runtime_object *known = &list->object[statement >> 5 & (RUNTIME_CODES - 1)];

	if (!runtime_is_address(statement)) /* nor a place that this walk has not filled in */
		return 0;
	if (known->address != statement) {
		u64 file = runtime_statement_file(statement);

		if (!file)
			return 0;
		known->address = statement;
		known->code = runtime_text_hash(file);
	}
	return runtime_mix(known->code, kind) >> 32;
}

/* Returns the line of a statement, or RUNTIME_OFFSET_NONE. */
INLINE u64 runtime_line(struct walk *walk, u64 statement)
{
	struct runtime_list *list = &walk->list;
	u64 at = statement + list->config.scopes.line;

	if (runtime_read_word(at & ~7ull))
		return RUNTIME_OFFSET_NONE;
	u32 line = list->word >> (at & 4) * 8;

	return line < RUNTIME_OFFSET_NONE ? line : RUNTIME_OFFSET_NONE;
}

/*
 * Finds list->statement of the innermost function, which may have just begun. Then the interpreter
 * is at the call, or in the function's first operation, and still has the caller's statement.
 */
INLINE int runtime_begun(struct walk *walk, u64 function, u64 returns)
{
	struct runtime_list *list = &walk->list;
	const struct runtime_scopes *config = &list->config.scopes;
	u64 start, place = list->interpreter + config->operation;

	if (runtime_read_word(place))
		return 0;
	u64 operation = list->word;

	if (runtime_read_word(function) || runtime_read_word(list->word + config->start))
		return 0;
	start = list->word;
	if (operation != start && (runtime_read_word(operation) || list->word != returns))
		return 0;
	list->statement = 0;
	if (runtime_read_word((start + config->kind) & ~7ull))
		return 0;
	u32 kind = list->word >> (config->kind & 7) * 8 & STATEMENT_KIND;

	if (kind == config->kind_statement || kind == config->kind_debugged)
		list->statement = start;
	return 0;
}

/* Returns the fingerprint of a scope's frame, and puts its code in list->code. 0: it is none. */
INLINE u32 runtime_scope_code(struct walk *walk, u64 function, u64 returns)
{
	struct runtime_list *list = &walk->list;
	struct runtime_code *known = &list->known[function >> 5 & (RUNTIME_CODES - 1)];

	list->is_learned = 0;
	if (list->scope != SCOPE_OF_FUNCTION) {
		list->code = returns ? returns : list->interpreter;
		return runtime_file_print(walk, list->scope) | 1;
	}
	if (!runtime_is_address(function) ||
	    (known->code != function && runtime_learn_function(walk, function)))
		return 0;
	list->code = known->copy;
	return known->fingerprint;
}

/* Stores the frame of a scope. Returns 0, or the result that ends the walk. */
GLOBAL int runtime_scope_frame(u64 function, u64 returns, u64 called_in)
{
	struct walk *walk = walk_state();

	if (!walk)
		return RUNTIME_CUT_READ;
	struct runtime_list *list = &walk->list;
	u32 is_leaf = list->is_leaf, print = runtime_scope_code(walk, function, returns);

	list->is_leaf = 0;
	/* the innermost scope may be one that the interpreter has begun to fill in */
	if (!print)
		return is_leaf ? 0 : RUNTIME_CUT_READ;
	if (is_leaf && list->scope == SCOPE_OF_FUNCTION && list->statement == called_in)
		runtime_begun(walk, function, returns);
	if ((list->is_learned || list->scope != SCOPE_OF_FUNCTION) &&
	    !walk_told(walk, list->code, print)) {
		list->unnamed = list->code;
		list->fingerprint = print;
		list->called_at = list->statement;
	}
	if (walk_store(walk, list->words, RUNTIME_WORD_FRAME | FRAME_ADDRESS(list->code),
		       runtime_line(walk, list->statement) << 32 | print))
		return RUNTIME_CUT_DEPTH;
	list->words += 2;
	list->statement = called_in;
	return 0;
}

/* Tells of the code of the last frame: list->unnamed. */
INLINE int runtime_tell_scope(struct walk *walk)
{
	struct runtime_list *list = &walk->list;
	u64 code = list->unnamed;
	int r;

	list->unnamed = 0;
	if (list->scope == SCOPE_OF_FUNCTION) {
		r = runtime_function_texts();
	} else {
		u64 file = runtime_statement_file(list->called_at);

		if (!file)
			return 0;
		r = runtime_set_texts(list, 0, 0, file, list->scope);
	}
	if (r)
		walk_tell(walk, code, list->fingerprint);
	return 0;
}

/* ---- scopes ---- */

/* Stores a border that is due. Returns 0, or 1 without room. */
INLINE int runtime_scope_border(struct walk *walk)
{
	struct runtime_list *list = &walk->list;

	if (!list->is_due)
		return 0;
	list->is_due = 0;
	return walk_store(walk, list->words++, RUNTIME_WORD_BORDER | RUNTIME_BORDER_NOWHERE, 0);
}

/* Begins with the innermost scope of a stack, or with the stack behind. Returns 0 to go on. */
GLOBAL int runtime_take_scopes(u64 info)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct runtime_list *list = &walk->list;
	const struct runtime_scopes *config = &list->config.scopes;

	list->info = info;
	if (!info)
		return runtime_end(list, RUNTIME_WHOLE);
	if (runtime_read_word((info + config->last) & ~7ull))
		return runtime_end(list, RUNTIME_CUT_READ);
	list->scopes = (u32)(list->word >> (config->last & 4) * 8) + 1; /* -1: none */
	if (runtime_read_word(info + config->first))
		return runtime_end(list, RUNTIME_CUT_READ);
	list->node = list->word + (u64)(list->scopes - 1) * list->config.node_bytes;
	return 0;
}

/* Goes on with the stack behind. Returns 0 to go on, or 1 at the end. */
INLINE int runtime_leave_scopes(struct walk *walk)
{
	struct runtime_list *list = &walk->list;

	if (runtime_scope_border(walk))
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	if (runtime_read_word(list->info + list->config.scopes.previous))
		return runtime_end(list, RUNTIME_CUT_READ);
	return runtime_take_scopes(list->word);
}

/* Returns the last of the offsets in a scope. */
INLINE u32 runtime_scope_last(const struct runtime_scopes *config)
{
	u32 last = config->type;

	if (config->called_in > last)
		last = config->called_in;
	if (config->returns > last)
		last = config->returns;
	return config->function > last ? config->function : last;
}

/* Begins the walk over scopes. Returns 0 when there is one to take. */
GLOBAL int runtime_begin_scopes(u64 interpreter)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct runtime_list *list = &walk->list;
	const struct runtime_scopes *config = &list->config.scopes;

	NOT_UNROLLED
	for (u32 i = 0; i < RUNTIME_CODES; i++)
		list->object[i].address = 1; /* no address */
	list->interpreter = interpreter;
	list->is_leaf = 1;
	list->is_due = 0;
	if (runtime_read_word(interpreter + config->statement))
		return runtime_end(list, RUNTIME_CUT_READ);
	list->statement = list->word;
	if (runtime_read_word(interpreter + config->stack))
		return runtime_end(list, RUNTIME_CUT_READ);
	return runtime_take_scopes(list->word);
}

/* Returns what the frame of a scope is of. */
INLINE u32 runtime_scope_kind(struct runtime_list *list, u32 type)
{
	u32 kind = type & SCOPE_TYPE;

	if (kind == SCOPE_BLOCK) {
		if (list->scopes || runtime_read_word(list->info + list->config.scopes.previous))
			return SCOPE_OF_NOTHING;
		return list->word ? SCOPE_OF_NOTHING : SCOPE_OF_MAIN;
	}
	if (kind < SCOPE_SUB || kind > SCOPE_EVAL || type & SCOPE_AGAIN)
		return SCOPE_OF_NOTHING;
	return kind == SCOPE_EVAL ? SCOPE_OF_EVAL : SCOPE_OF_FUNCTION;
}

/* Returns whether a scope is the outermost one of an activation of the loop. */
INLINE int runtime_is_outermost(const struct runtime_list *list, u32 type, u64 returns)
{
	u32 kind = type & SCOPE_TYPE;

	if (kind == SCOPE_SORT || kind == SCOPE_DEFER || list->scope == SCOPE_OF_MAIN)
		return 1;
	return !returns && kind >= SCOPE_SUB && kind <= SCOPE_EVAL;
}

/* Takes one scope. Returns 0 to go on, or 1 at the end. */
GLOBAL int runtime_scope_step(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct runtime_list *list = &walk->list;
	const struct runtime_scopes *config = &list->config.scopes;
	u64 node = list->node, returns, ends, joins;
	u32 bytes = BOUND((u64)list->config.node_bytes, RUNTIME_NODE_BYTES + 1), type;
	int r;

	if (list->words + 4 > RECORD_RUNTIME_WORDS_MAX)
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	if (walk_work(walk) >= walk->look_at && walk_late())
		return runtime_end(list, RUNTIME_CUT_BUDGET);
	if (list->unnamed)
		return runtime_tell_scope(walk);
	if (!list->scopes)
		return runtime_leave_scopes(walk);
	if (runtime_read_node(walk, bytes, node))
		return runtime_end(list, RUNTIME_CUT_READ);
	list->scopes--;
	list->node -= bytes;
	type = runtime_node_u32(walk, node, config->type);
	returns = runtime_node_u64(walk, node, config->returns);
	list->scope = runtime_scope_kind(list, type);
	ends = runtime_is_outermost(list, type, returns);
	/* native code that catches errors has put an eval around its call */
	joins = ends && (type & SCOPE_TYPE) == SCOPE_EVAL && type & SCOPE_EVAL_BLOCK;
	if (!joins && (ends || list->scope) && runtime_scope_border(walk))
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	if (ends && !joins)
		list->is_due = 1;
	if (list->scope == SCOPE_OF_NOTHING)
		return 0;
	if (list->scope == SCOPE_OF_MAIN)
		returns = 0;
	r = runtime_scope_frame(runtime_node_u64(walk, node, config->function), returns,
				runtime_node_u64(walk, node, config->called_in));
	return r ? runtime_end(list, r) : 0;
}

#endif

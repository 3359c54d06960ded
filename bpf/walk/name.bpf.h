/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The name that a caller's code has for a function (RUNTIME_NAMES). Each step does a little, so
 * that the verifier has no loop to follow. Pure C. The includer supplies the environment that
 * bpf/walk/runtime.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_NAME_BPF_H
#define KEYHOLE_BPF_WALK_NAME_BPF_H

#include "bpf/walk/list.bpf.h"
#include "bpf/walk/walk.bpf.h"

#define RUNTIME_BACK	      32u  /* instructions up to a call that are looked at, with the call */
#define RUNTIME_VARIABLES     64u  /* that are read at once, */
#define RUNTIME_VARIABLES_MAX 512u /* and that are looked at */

/* The next step for code that waits for its name: list->asks. */
enum runtime_asks {
	ASKS_NOTHING,
	ASKS_CALL,     /* reads the caller's instructions up to the call */
	ASKS_BACK,     /* looks at the instruction before */
	ASKS_VARIABLE, /* looks at the next variable */
	ASKS_TELL      /* has the code told of */
};

/* The caller of the code that waits is known: its code, or 0 without one. */
INLINE void runtime_ask(struct runtime_list *list, u64 caller, u64 instruction)
{
	list->asks = caller ? ASKS_CALL : ASKS_TELL;
	list->caller = caller;
	list->called_at = instruction;
}

/* Returns an instruction in the window. */
INLINE u32 runtime_instruction(const struct walk *walk, u64 number)
{
	u64 word = walk->window[number >> 1 & (RUNTIME_BACK / 2 - 1)];

	return word >> (number & 1) * 32;
}

INLINE u32 runtime_opcode(const struct runtime_names *names, u32 word)
{
	return word & ((1u << (names->opcode_bits & 31)) - 1);
}

/* Reads the caller's code, and its instructions up to the call. Returns what the next step does. */
INLINE int runtime_read_call(struct walk *walk)
{
	struct runtime_list *list = &walk->list;
	const struct runtime_names *names = &list->config.names;
	u64 first, at = list->called_at;

	if (runtime_read(list->code_bytes, list->caller))
		return ASKS_TELL;
	first = list->caller + list->config.instructions;
	if (list->config.flags & RUNTIME_POINTED)
		first = runtime_u64(list, list->config.instructions);
	if (at <= first)
		return ASKS_TELL;
	list->count = (at - first) / 4;
	list->some = list->count < RUNTIME_BACK ? list->count : RUNTIME_BACK;
	walk->window_bytes = list->slots_bytes = 0;
	list->reads++;
	if (at >= WALK_ADDRESS_END ||
	    walk_read(walk->window, BOUND(list->some * 4ull, RUNTIME_BACK * 4 + 1),
		      at - list->some * 4))
		return ASKS_TELL;
	list->call = runtime_instruction(walk, list->some - 1);
	list->back = 2;
	if (runtime_opcode(names, list->call) == names->other_call)
		return ASKS_BACK;
	return runtime_opcode(names, list->call) == names->call ? ASKS_BACK : ASKS_TELL;
}

/* Finds the name among references, or where it is packed. Returns what the next step does. */
INLINE int runtime_name_packed(struct walk *walk, u32 source, u64 index)
{
	struct runtime_list *list = &walk->list;
	const struct runtime_names *names = &list->config.names;
	u32 at = source == RUNTIME_OF_PACKED_UPVALUES ? names->upvalues : names->variables;
	u64 place = runtime_reference(list, names->constants);

	if (source == RUNTIME_OF_REFERENCES) {
		place -= (index + 1) * names->upvalue_bytes;
		if (!runtime_read_reference(list, place))
			list->name = list->word;
		return ASKS_TELL;
	}
	list->named = (u64)source << 56 | index << 32 | (list->count - list->back);
	list->name = runtime_reference(list, at);
	return ASKS_TELL;
}

/* Reads the next variables. Returns what the next step does. */
GLOBAL int runtime_read_variables(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return ASKS_TELL;
	struct runtime_list *list = &walk->list;
	u64 at = list->variables;

	list->count = list->more < RUNTIME_VARIABLES ? list->more : RUNTIME_VARIABLES;
	list->more -= list->count;
	list->variables += RUNTIME_VARIABLES * 16;
	list->back = 0;
	list->reads++;
	if (!list->count || at >= WALK_ADDRESS_END ||
	    walk_read(walk->window, BOUND(list->count * 16ull, RUNTIME_VARIABLES * 16 + 1), at))
		return ASKS_TELL;
	return ASKS_VARIABLE;
}

/* Finds the name by an instruction that has the register. Returns what the next step does. */
INLINE int runtime_name_by(struct walk *walk, u32 word)
{
	struct runtime_list *list = &walk->list;
	const struct runtime_names *names = &list->config.names;
	u32 opcode = runtime_opcode(names, word), source = 0;
	u64 index = 0, at;

	/* without branches: each would double the verifier's states */
	NOT_UNROLLED
	for (u32 i = 0; i < RUNTIME_FORMS; i++) {
		const struct runtime_form *form = &names->form[i];
		u64 other = (form->opcode ^ opcode) | !form->source;
		u64 needed = form->needs & 31, has = word >> needed & 1;
		u64 fits = (other - 1) >> 63 & ((needed - 1) >> 63 | has), mask = 0 - fits;

		source |= form->source & mask;
		index |= word >> (form->shift & 31) & ((1u << (form->bits & 31)) - 1) & mask;
	}
	if (source == RUNTIME_OF_CAPTURES)
		return ASKS_TELL;
	if (source >= RUNTIME_OF_REFERENCES)
		return runtime_name_packed(walk, source, index);
	if (source == RUNTIME_OF_CONSTANTS)
		at = runtime_u64(list, names->constants) + index * 16;
	else if (source == RUNTIME_OF_UPVALUES)
		at = runtime_u64(list, names->upvalues) + index * names->upvalue_bytes;
	else
		at = runtime_u64(list, names->variables);
	if (source == RUNTIME_OF_VARIABLES) {
		list->called_at = list->count - list->back;
		list->more = runtime_u32(list, names->variable_count);
		if (list->more > RUNTIME_VARIABLES_MAX)
			list->more = RUNTIME_VARIABLES_MAX;
		list->variables = at;
		list->some = index;
		return runtime_read_variables();
	}
	if (source != RUNTIME_OF_NOTHING && !runtime_read_word(at))
		list->name = list->word;
	return ASKS_TELL;
}

/* Returns whether an instruction, whose register is 0, only says what a function captures. */
INLINE int runtime_is_capture(struct walk *walk, u32 word)
{
	struct runtime_list *list = &walk->list;
	const struct runtime_names *names = &list->config.names;
	const struct runtime_form *last = &names->form[RUNTIME_FORMS - 1];
	u32 before, opcode;

	if (last->source != RUNTIME_OF_CAPTURES || word >> (names->opcode_bits & 31) & 0xff ||
	    list->back >= list->some)
		return 0;
	before = runtime_instruction(walk, list->some - list->back - 1);
	opcode = runtime_opcode(names, before);
	if (opcode == last->opcode)
		return 1;
	return !(before >> (names->opcode_bits & 31) & 0xff) &&
	       (opcode == names->form[0].opcode || opcode == names->form[1].opcode);
}

/* Looks at an instruction before the call. Returns what the next step does. */
INLINE int runtime_look_back(struct walk *walk)
{
	struct runtime_list *list = &walk->list;
	const struct runtime_names *names = &list->config.names;
	u32 word;

	if (list->back > list->some)
		return ASKS_TELL;
	word = runtime_instruction(walk, list->some - list->back);
	if (!((word ^ list->call) >> (names->opcode_bits & 31) & 0xff) &&
	    runtime_opcode(names, word) != names->jump && !runtime_is_capture(walk, word))
		return runtime_name_by(walk, word);
	list->back++;
	return ASKS_BACK;
}

/*
 * Looks at a variable in the window, which counts if it is there at the instruction. Returns what
 * the next step does.
 */
INLINE int runtime_look_at_variable(struct walk *walk)
{
	struct runtime_list *list = &walk->list;
	u64 at = BOUND(2ull * list->back, WALK_WINDOW_BYTES / 8 - 1), range = walk->window[at + 1];

	if (list->back >= list->count)
		return runtime_read_variables();
	list->back++;
	if (list->called_at < (u32)range || list->called_at >= range >> 32)
		return ASKS_VARIABLE;
	if (list->some--)
		return ASKS_VARIABLE;
	list->name = walk->window[at];
	return ASKS_TELL;
}

/* Does a step for the code that waits for its name. */
GLOBAL int runtime_name_step(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct runtime_list *list = &walk->list;
	u32 asks = list->asks;

	if (asks == ASKS_CALL) {
		list->asks = runtime_read_call(walk);
	} else if (asks == ASKS_BACK) {
		list->asks = runtime_look_back(walk);
	} else if (asks == ASKS_VARIABLE) {
		list->asks = runtime_look_at_variable(walk);
	} else {
		list->asks = ASKS_NOTHING;
		if (!runtime_read(list->code_bytes, list->unnamed))
			walk_tell(walk, list->unnamed, list->fingerprint);
		list->unnamed = list->name = list->named = 0;
		list->call = list->called_in = 0;
	}
	return 0;
}

#endif

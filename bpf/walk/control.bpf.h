/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control frames of Ruby (RUNTIME_CONTROL): an array, and environments on a stack of values.
 * Pure C. The includer supplies the environment that bpf/walk/runtime.bpf.h names.
 *
 * Each step reads a number of words that is known before, whatever they say.
 */
#ifndef KEYHOLE_BPF_WALK_CONTROL_BPF_H
#define KEYHOLE_BPF_WALK_CONTROL_BPF_H

#include "bpf/walk/late.bpf.h"
#include "bpf/walk/list.bpf.h"
#include "bpf/walk/memory.bpf.h"
#include "bpf/walk/state.bpf.h"
#include "bpf/walk/walk.bpf.h"

#define CONTROL_ENVIRONMENTS 8u /* that are looked at, innermost first: blocks within blocks */
#define CONTROL_METHOD_BYTES 40u
#define CONTROL_NAMES_BITS   9u /* struct id_table of symbol.c: an inner array has 512 names */
#define CONTROL_NAME_WORDS   2u /* a name, and the same as a symbol */
/* struct RArray: elements, or their address, of all versions */
#define CONTROL_ELEMENTS_AT  16u
#define CONTROL_ELEMENTS_OUT 32u
#define CONTROL_TEXT_OUT     24u /* struct RString: the address of bytes that are elsewhere */
#define CONTROL_BELOW	     8u	 /* a slot */
/* struct succ_index_table of iseq.c, all versions: so many bytes for so many instructions */
#define CONTROL_TABLE_BYTES(count) (48 + ((u64)(count) + 457) / 512 * 80)

/* ---- objects ---- */

/* Returns the address of an array's elements, or 0. */
INLINE u64 control_elements(struct runtime_list *list, u64 array)
{
	if (runtime_read_word(array) || (list->word & CONTROL_TYPE) != CONTROL_ARRAY)
		return 0;
	if (list->word & CONTROL_INSIDE)
		return array + CONTROL_ELEMENTS_AT;
	return runtime_read_word(array + CONTROL_ELEMENTS_OUT) ? 0 : list->word;
}

/* Returns an element of an array, or 0. */
GLOBAL u64 control_element(u64 array, u64 number)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	u64 elements = control_elements(&walk->list, array);

	if (!elements || runtime_read_word(elements + number * 8))
		return 0;
	return walk->list.word;
}

/* Returns the address of the bytes of a text, or of the text that an array begins with; or 0. */
GLOBAL u64 control_text(u64 object)
{
	struct walk *walk = walk_state();

	if (!walk || runtime_read_word(object))
		return 0;
	struct runtime_list *list = &walk->list;

	if ((list->word & CONTROL_TYPE) == CONTROL_ARRAY) {
		if (runtime_read_word(control_elements(list, object)))
			return 0;
		object = list->word;
		if (runtime_read_word(object))
			return 0;
	}
	if ((list->word & CONTROL_TYPE) != CONTROL_TEXT)
		return 0;
	if (!(list->word & CONTROL_OUTSIDE))
		return object + list->config.control.text_data;
	return runtime_read_word(object + CONTROL_TEXT_OUT) ? 0 : list->word;
}

/* Returns the text that has a number, or 0. */
INLINE u64 control_name(struct runtime_list *list, u64 number)
{
	u64 names = list->config.control.names, inner;

	if (!names || runtime_read_word(names + list->bias))
		return 0;
	if (number > list->config.control.operators)
		number >>= 4;
	inner = control_element(list->word, number >> CONTROL_NAMES_BITS);
	number &= (1u << CONTROL_NAMES_BITS) - 1;
	return control_element(inner, number * CONTROL_NAME_WORDS);
}

/* Finds list->name of a class, and list->named. Without a name for good, a class has none. */
INLINE void control_class(struct runtime_list *list, u64 class)
{
	const struct runtime_control *control = &list->config.control;
	u64 named = CONTROL_OF_OBJECTS, name, type;

	list->named = CONTROL_NO_CLASS;
	if (!class || runtime_read_word(class))
		return;
	if ((list->word & (control->single_mask | CONTROL_TYPE)) ==
	    (control->single_mask | CONTROL_CLASS)) {
		named = CONTROL_OF_ITSELF;
		if (runtime_read_word(class + control->class_object))
			return;
		class = list->word;
		if (runtime_read_word(class))
			return;
	}
	type = list->word & CONTROL_TYPE;
	if ((type != CONTROL_CLASS && type != CONTROL_MODULE) ||
	    runtime_read_word(class + (control->class_flags & ~7u)) ||
	    !(list->word >> (control->class_flags & 4) * 8 & control->class_mask) ||
	    runtime_read_word(class + control->class_name))
		return;
	name = control_text(list->word);
	if (!name)
		return;
	list->name = name;
	list->named = named;
}

/* ---- methods ---- */

/* Returns the method in a slot of an environment, or 0: none; RUNTIME_CODE_NONE: not read. */
INLINE u64 control_method_in(struct runtime_list *list, u64 object)
{
	if (!object)
		return 0;
	if (runtime_read_word(object))
		return RUNTIME_CODE_NONE;
	if ((list->word & CONTROL_INTERNAL_TYPE) == CONTROL_VARIABLES) {
		if (runtime_read_word(object + 8))
			return RUNTIME_CODE_NONE;
		object = list->word;
		if (object && runtime_read_word(object))
			return RUNTIME_CODE_NONE;
	}
	return (list->word & CONTROL_INTERNAL_TYPE) == CONTROL_METHOD ? object : 0;
}

/*
 * Returns the class of the method in an environment. 0: none is there, and list->word has the
 * environment around it, or 0. RUNTIME_CODE_NONE: memory could not be read
 */
GLOBAL u64 control_owner_in(u64 environment)
{
	struct walk *walk = walk_state();

	if (!walk || runtime_read_slot(walk, environment))
		return RUNTIME_CODE_NONE;
	struct runtime_list *list = &walk->list;
	u64 flags = list->word, method, object;

	if (runtime_read_slot(walk, environment - 2 * CONTROL_BELOW))
		return RUNTIME_CODE_NONE;
	object = list->word;
	struct runtime_object *known = &list->object[object >> 3 & (RUNTIME_CODES - 1)];

	if (known->address == object)
		return known->code;
	method = control_method_in(list, object);
	if (method > RUNTIME_CODE_NONE && !runtime_read_word(method + list->config.control.owner)) {
		known->address = object;
		known->code = list->word;
		return list->word;
	}
	if (method)
		return RUNTIME_CODE_NONE;
	list->word = 0;
	if (flags & CONTROL_LOCAL)
		return 0;
	if (runtime_read_slot(walk, environment - CONTROL_BELOW))
		return RUNTIME_CODE_NONE;
	list->word &= ~3ull;
	return 0;
}

/* Returns the same of a frame's environment, and of those around it. */
GLOBAL u64 control_owner(u64 environment)
{
	struct walk *walk = walk_state();
	u64 class = 0;

	if (!walk)
		return 0;
	NOT_UNROLLED
	for (u32 i = 0; i < CONTROL_ENVIRONMENTS && environment && !class; i++) {
		class = control_owner_in(environment);
		environment = walk->list.word;
	}
	return class;
}

/* ---- telling ---- */

/* Returns the text of the name of code. Evaluated code has the name of that around it. */
INLINE u64 control_label(struct runtime_list *list, u64 code)
{
	const struct runtime_config *config = &list->config;

	if (!config->control.parent)
		return runtime_u64(list, config->part[1]);
	NOT_UNROLLED
	for (u32 i = 0; i < CONTROL_ENVIRONMENTS; i++) {
		if (runtime_read_word(code))
			return 0;
		if ((u32)list->word != CONTROL_EVALUATED)
			break;
		if (runtime_read_word(code + config->control.parent) ||
		    runtime_read_word(list->word + config->object_code))
			return 0;
		code = list->word;
	}
	return runtime_read_word(code + config->part[1]) ? 0 : list->word;
}

/*
 * Tells of a function, whose code's bytes, or method's, are in list->memory. number: of the name of
 * a function in C, or 0. class: 0: none
 */
GLOBAL int control_tell(u64 code, u64 fingerprint, u64 number, u64 class)
{
	struct walk *walk = walk_state();

	if (!walk || !walk->list.told || walk_told(walk, code, fingerprint))
		return 0;
	struct runtime_list *list = &walk->list;
	const struct runtime_config *config = &list->config;
	u64 label = 0;

	list->path = list->lines = list->table = list->lines_bytes = list->table_bytes = 0;
	if (number) {
		label = control_name(list, number);
	} else {
		label = control_label(list, code);
		list->path = control_text(runtime_u64(list, config->part[2]));
		list->lines = runtime_u64(list, config->part[3]);
		list->table = runtime_u64(list, config->control.table);
		list->lines_bytes = (u64)runtime_u32(list, config->last_count) * config->last_unit;
		list->table_bytes = CONTROL_TABLE_BYTES(runtime_u32(list, config->count));
	}
	list->label = list->name = control_text(label);
	list->named = CONTROL_NO_CLASS;
	if (config->control.class_name)
		control_class(list, class);
	if (list->label && (number || list->path))
		walk_tell(walk, code, fingerprint);
	return 0;
}

/* ---- frames ---- */

GLOBAL int runtime_border(u64 node); /* runtime.bpf.h */

/* Stores a frame. Returns 0, or the result that ends the walk. */
INLINE int control_store(struct walk *walk, u64 code, u64 offset, u64 fingerprint)
{
	struct runtime_list *list = &walk->list;

	if (walk_store(walk, list->words, RUNTIME_WORD_FRAME | code, offset << 32 | fingerprint))
		return RUNTIME_CUT_DEPTH;
	list->words += 2;
	list->open = 1;
	return 0;
}

/* Takes the frame of a function in C. Returns 0, or the result that ends the walk. */
GLOBAL int control_method(u64 environment)
{
	struct walk *walk = walk_state();

	if (!walk || runtime_read_slot(walk, environment - 2 * CONTROL_BELOW))
		return RUNTIME_CUT_READ;
	struct runtime_list *list = &walk->list;
	const struct runtime_control *control = &list->config.control;
	u64 method = list->word, definition, hash, number;
	struct runtime_code *known = &list->known[method >> 3 & (RUNTIME_CODES - 1)];

	if (known->code == method)
		return control_store(walk, method, RUNTIME_OFFSET_NONE, known->fingerprint);
	if (runtime_read(CONTROL_METHOD_BYTES, method) ||
	    (runtime_u64(list, 0) & CONTROL_INTERNAL_TYPE) != CONTROL_METHOD)
		return RUNTIME_CUT_READ;
	definition = runtime_u64(list, control->definition);
	if (runtime_read_word(definition + control->name))
		return RUNTIME_CUT_READ;
	number = list->word;
	hash = runtime_mix(runtime_mix(definition, number), runtime_u64(list, control->owner));
	known->code = method;
	known->fingerprint = hash >> 32;
	control_tell(method, known->fingerprint, number, runtime_u64(list, control->owner));
	return control_store(walk, method, RUNTIME_OFFSET_NONE, known->fingerprint);
}

/* Takes the frame of a function of the program. Returns 0, or the result that ends the walk. */
GLOBAL int control_frame(u64 object, u64 instruction, u64 environment)
{
	struct walk *walk = walk_state();

	if (!walk)
		return RUNTIME_CUT_READ;
	struct runtime_list *list = &walk->list;
	const struct runtime_config *config = &list->config;
	u64 code = runtime_object(object), class = 0;

	if (code <= RUNTIME_CODE_NONE)
		return RUNTIME_CUT_READ;
	if (config->control.class_name)
		class = control_owner(environment);
	if (class == RUNTIME_CODE_NONE)
		return RUNTIME_CUT_READ;
	struct runtime_code *known = &list->known[(code >> 5 ^ class >> 3) & (RUNTIME_CODES - 1)];

	if (known->code != code || known->number != (u32)(class >> 3)) {
		if (runtime_read(list->code_bytes, code))
			return RUNTIME_CUT_READ;
		known->fingerprint = runtime_fingerprint(list);
		if (class)
			known->fingerprint = runtime_mix(known->fingerprint, class) >> 32;
		known->code = code;
		known->number = class >> 3;
		known->copy = runtime_u64(list, config->instructions);
		if (!list->words && !walk->made)
			instruction = runtime_leaf_instruction(instruction, known->copy);
		control_tell(code, known->fingerprint, 0, class);
	}
	instruction -= known->copy;
	if (instruction >= RUNTIME_OFFSET_NONE)
		instruction = RUNTIME_OFFSET_NONE;
	return control_store(walk, code, instruction, known->fingerprint);
}

/*
 * Reads a frame into the window, with those of callers behind it. Returns 0 when the window has the
 * frame.
 */
INLINE int control_read_frame(struct walk *walk, u64 node)
{
	u64 bytes = walk->list.config.node_bytes, more = walk->list.end - node;
	u64 page = 4096 - (node & 4095);

	if (!runtime_is_address(node))
		return 1;
	if (node >= walk->window_start && node + bytes - walk->window_start <= walk->window_bytes)
		return 0;
	if (more > RUNTIME_SLOTS_AT)
		more = RUNTIME_SLOTS_AT;
	if (more > page && page >= bytes)
		more = page;
	if (more < bytes)
		return 1;
	walk->list.reads++;
	walk->window_start = node;
	walk->window_bytes = more & ~7ull;
	return walk_read_window(walk->window_bytes, node);
}

/* Takes one frame. Returns 0 to go on, or 1 at the end. */
GLOBAL int control_step(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct runtime_list *list = &walk->list;
	const struct runtime_config *config = &list->config;
	u64 node = list->node, object, instruction, environment;
	u32 flags, kind, r = 0;

	if (list->words + 4 > RECORD_RUNTIME_WORDS_MAX)
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	if (walk_work(walk) >= walk->look_at && walk_late())
		return runtime_end(list, RUNTIME_CUT_BUDGET);
	if (node == list->end)
		return runtime_end(list, RUNTIME_WHOLE);
	if (control_read_frame(walk, node))
		return runtime_end(list, RUNTIME_CUT_READ);
	object = runtime_node_u64(walk, node, config->code);
	instruction = runtime_node_u64(walk, node, config->instruction);
	environment = runtime_node_u64(walk, node, config->control.environment);
	if (runtime_read_slot(walk, environment))
		return runtime_end(list, RUNTIME_CUT_READ);
	flags = list->word;
	kind = flags & CONTROL_KIND;
	list->node = node + config->node_bytes;
	if (kind == CONTROL_C)
		r = control_method(environment);
	else if (object && kind != CONTROL_CB && kind != CONTROL_OUTERMOST)
		r = control_frame(object, instruction, environment);
	if (r)
		return runtime_end(list, r);
	if (flags & CONTROL_FINISH && runtime_border(0))
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	return 0;
}

/* ---- the beginning ---- */

/* Returns whether the context list->anchor is of this thread: another one may have no context. */
INLINE int control_is_own(struct runtime_list *list)
{
	const struct runtime_control *control = &list->config.control;

	if (!control->thread)
		return 1;
	return !runtime_read_word(list->anchor + control->thread) &&
	       !runtime_read_word(list->word + control->thread_id) &&
	       list->word == walk_thread_pointer();
}

/* Begins the walk at list->node, of the context list->anchor. Returns 0 when there is a frame. */
GLOBAL int control_begin(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct runtime_list *list = &walk->list;
	u64 stack;

	list->slots_bytes = 0;
	NOT_UNROLLED
	for (u32 i = 0; i < RUNTIME_CODES; i++)
		list->object[i].address = 1; /* no address */
	if (!control_is_own(list) || runtime_read_word(list->anchor))
		return runtime_end(list, RUNTIME_NO_ROOT);
	stack = list->word;
	if (runtime_read_word(list->anchor + 8))
		return runtime_end(list, RUNTIME_NO_ROOT);
	list->end = stack + list->word * 8;
	list->anchor = 0;
	return 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of JavaScript: what tells them apart, their code for the interpreter, and what an event
 * has of a new one. Pure C. The includer supplies the environment that bpf/walk/hotspot.bpf.h
 * names.
 */
#ifndef KEYHOLE_BPF_WALK_V8_FUNCTION_BPF_H
#define KEYHOLE_BPF_WALK_V8_FUNCTION_BPF_H

#include "bpf/walk/list.bpf.h"
#include "bpf/walk/v8_object.bpf.h"
#include "bpf/walk/walk.bpf.h"

/* Returns whether the function that is told of is one of WebAssembly (bpf/walk/v8_wasm.bpf.h). */
INLINE int v8_is_wasm(const struct v8 *v8)
{
#ifdef WALK_NAMES_WASM
	return v8->wasm.is_named;
#else
	(void)v8;
	return 0;
#endif
}

INLINE u64 v8_mix_all(u64 first, u64 second)
{
	u64 mixed = first * 0x9e3779b97f4a7c15ull;

	return (mixed ^ second ^ mixed >> 29) * 0x9e3779b97f4a7c15ull;
}

INLINE u32 v8_mix(u64 first, u64 second)
{
	return v8_mix_all(first, second) >> 32;
}

/* Returns the entry of a function among those that walks have met. */
INLINE struct v8_function *v8_entry(struct walk *walk, u64 function)
{
	return &walk->function[(u32)(function >> 3) * 0x9e3779b1u >> (32 - V8_FUNCTION_BITS)];
}

/* Returns a number of all that tells functions apart, in the part that those of code share. */
INLINE u64 v8_seen(const struct runtime_list *list)
{
	const struct runtime_v8 *config = &list->config.v8;
	u64 seen = runtime_u64(list, config->shared_name);

	seen = v8_mix_all(seen, runtime_u64(list, config->shared_data));
	seen = v8_mix_all(seen, runtime_u64(list, config->shared_script));
	return v8_mix_all(seen, runtime_u64(list, config->shared_number));
}

/* Finds the table of places in the text of the interpreter's code. */
INLINE void v8_take_positions(struct walk *walk, struct v8_function *taken)
{
	const struct runtime_v8 *config = &walk->list.config.v8;
	u64 bytes;

	taken->positions = v8_word(walk, taken->bytecode, config->bytecode_positions);
	bytes = v8_word(walk, taken->positions, config->array_length);
	taken->position_bytes = 0;
	/* V8 makes the table when it first needs one. Before, there is another object. */
	if (!(u32)bytes && bytes >> 32 < V8_LENGTH_MAX)
		taken->position_bytes = bytes >> 32;
}

/* Takes compiled code: v8->code. Returns 0 when the object is such code. */
GLOBAL int v8_take_code(u64 object)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	const struct runtime_v8 *config = &walk->list.config.v8;
	struct v8_code *code = &walk->v8.code;
	u32 start = config->code_start;

	code->object = code->bytes = 0;
	if (v8_type(walk, object) != config->type_code)
		return 1;
	code->start = object - V8_TAG + (start & ~V8_START_WITHIN);
	if (!(start & V8_START_WITHIN))
		code->start = v8_word(walk, object, start);
	if (config->code_table)
		code->bytes = v8_u32(walk, object, config->code_size);
	if (code->bytes >= V8_LENGTH_MAX)
		code->bytes = 0;
	code->object = object;
	return 0;
}

/* Finds the interpreter's code of a function, which compiled code may lead to. */
INLINE u64 v8_bytecode(struct walk *walk, u64 data)
{
	const struct runtime_v8 *config = &walk->list.config.v8;
	u64 pair = 0;

	walk->v8.taken.baseline.object = walk->v8.taken.baseline.bytes = 0;
	if (v8_is(data, V8_KIND_BYTECODE))
		return data;
	if (v8_take_code(data)) {
		/* V8 9.4 has a pair, with compiled code first */
		pair = data;
		data = v8_word(walk, pair, 8);
		if (v8_take_code(data))
			return 0;
	}
	walk->v8.taken.baseline = walk->v8.code;
	data = pair ? v8_word(walk, pair, 16) : v8_word(walk, data, config->code_bytecode);
	return v8_is(data, V8_KIND_BYTECODE) ? data : 0;
}

/* Finds out all of a function, whose shared part is in list->memory. Returns 0 when it is one. */
GLOBAL int v8_look_up(u64 shared)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct v8_function *taken = &walk->v8.taken;
	const struct runtime_list *list = &walk->list;
	const struct runtime_v8 *config = &list->config.v8;
	u64 counts = runtime_u64(list, config->shared_counts);
	u64 data = runtime_u64(list, config->shared_data);
	u64 source, number;

	if (!v8_is(shared, V8_KIND_SHARED))
		return 1;
	taken->shared = shared - V8_TAG;
	taken->name = runtime_u64(list, config->shared_name);
	taken->script = runtime_u64(list, config->shared_script);
	taken->script_fingerprint = 0;
	if (v8_is(taken->script, V8_KIND_SCRIPT)) {
		number = v8_word(walk, taken->script, config->script_number);
		source = v8_word(walk, taken->script, config->script_source);
		taken->script_fingerprint =
			v8_mix(number, v8_u32(walk, source, config->text_length));
		number = taken->script_fingerprint;
	} else {
		taken->script = 0;
		/* the name of a builtin never moves */
		number = data ^ taken->name;
	}
	taken->bytecode = v8_bytecode(walk, data);
#ifdef WALK_NAMES_WASM
	/* V8's own stacks leave these out: the function of WebAssembly follows */
	if (!taken->bytecode && v8_type(walk, data) == config->type_export)
		return 1;
#endif
	if (!taken->bytecode && v8_is(walk->v8.frame[V8_FRAME_BYTECODE], V8_KIND_BYTECODE))
		taken->bytecode = walk->v8.frame[V8_FRAME_BYTECODE];
	v8_take_positions(walk, taken);
	number = number << 32 | runtime_u64(list, config->shared_number) >> 32;
	taken->fingerprint =
		v8_mix(number, (counts >> 16 & 0xffffffff) ^ (u64)taken->position_bytes << 32);
	return 0;
}

/* Returns whether no look at what the functions of a code share is due. */
INLINE int v8_is_trusted(const struct walk *walk, const struct v8_function *known)
{
	return known->shared && walk->looked - known->trusted_at < V8_TRUST_NS &&
	       walk->v8.walk - known->looked_up < V8_WALKS;
}

/*
 * Returns what a function shares with others of its code, or 0. Garbage collections soon move a
 * function. The function is still there if its frame has the same code.
 */
INLINE u64 v8_shared(struct walk *walk, const struct v8_function *known, u64 function)
{
	if (known->function == function && known->bytecode &&
	    known->bytecode == walk->v8.frame[V8_FRAME_BYTECODE] && v8_is_trusted(walk, known))
		return known->shared + V8_TAG;
	return v8_word(walk, function, walk->list.config.v8.function_shared);
}

/* Finds a function: v8->taken. The next step tells of one that is new. Returns 0 when it is one. */
GLOBAL int v8_take_function(u64 function)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct v8 *v8 = &walk->v8;
	struct runtime_list *list = &walk->list;
	const struct runtime_v8 *config = &list->config.v8;
	struct v8_function *known = v8_entry(walk, function);
	u64 shared, seen;

	if (known->function == function && known->walk == v8->walk) {
		v8->taken = *known;
		return 0;
	}
	shared = v8_shared(walk, known, function);
	if (known->shared + V8_TAG != shared || !v8_is_trusted(walk, known)) {
		if (!(shared & V8_TAG) || runtime_read(config->shared_bytes, shared - V8_TAG))
			return 1;
		seen = v8_seen(list);
		if (known->shared + V8_TAG != shared || known->seen != seen ||
		    v8->walk - known->looked_up >= V8_WALKS) {
			if (v8_look_up(shared))
				return 1;
			v8->taken.seen = seen;
			v8->taken.looked_up = v8->walk;
			*known = v8->taken;
		}
		known->trusted_at = walk->looked;
	}
	known->function = function;
	known->walk = v8->walk;
	v8->taken = *known;
	if (!walk_told(walk, known->shared, known->fingerprint))
		v8->does = V8_NAME;
	return 0;
}

/* ---- names ---- */

/* A scope's flags (objects/scope-info.tq). */
#define V8_SCOPE_TYPE	  15u
#define V8_SCOPE_RECEIVER 7u	     /* shift of 2 bits: where `this` is */
#define V8_SCOPE_CLASS	  (1u << 10) /* a further word */
#define V8_SCOPE_NAMED	  (3u << 12) /* two further words: the name of the function */
#define V8_SCOPE_INFERRED (1u << 14) /* a further word: a name that V8 has found for it */

/* Returns whether `this` has a place: on the stack or in the context. */
INLINE int v8_has_receiver(u32 flags)
{
	u32 receiver = flags >> V8_SCOPE_RECEIVER & 3;

	return receiver == 1 || receiver == 2;
}

/* Finds the name of a function in its scope, and where it begins. Returns the text, or 0. */
GLOBAL u64 v8_scope_name(u64 scope)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	const struct runtime_v8 *config = &walk->list.config.v8;
	u32 flags = v8_word(walk, scope, 8) >> (config->scope_shift & 32);
	u32 names = v8_word(walk, scope, 8 + config->scope_count * 8u) >> 32;
	u32 at = 1u + config->scope_first;
	u64 name = 0, inferred = 0;

	if (names > V8_LENGTH_MAX)
		return 0;
	at += names;
	at += names < config->scope_names ? names : 1;
	if ((flags & V8_SCOPE_TYPE) == config->scope_module)
		at++;
	if (flags & V8_SCOPE_CLASS)
		at++;
	if (config->scope_receiver && v8_has_receiver(flags))
		at++;
	if (flags & V8_SCOPE_NAMED) {
		name = v8_word(walk, scope, at * 8u);
		at += 2;
	}
	if (flags & V8_SCOPE_INFERRED)
		inferred = v8_word(walk, scope, at++ * 8u);
	if (config->scope_start)
		at = 1u + config->scope_start;
	walk->v8.start = v8_word(walk, scope, at * 8u) >> 32;
	if (!name || !v8_u32(walk, name, config->text_length))
		name = inferred;
	return name;
}

/* Finds the characters of a name: v8->text. Returns what the event says of them. */
INLINE u64 v8_find_name(struct walk *walk, u64 name)
{
	struct v8 *v8 = &walk->v8;
	u32 length = v8_find_text(name);

	if (!length)
		v8->text.data = 0;
	if (length > V8_NAME_LENGTH(~0u))
		length = V8_NAME_LENGTH(~0u);
	return length | (v8->text.is_wide ? V8_NAME_IS_WIDE : 0);
}

/* Returns whether a name cannot be read now: its page is away, or a garbage collection moves it. */
INLINE int v8_is_away(struct walk *walk, u64 name)
{
	return name & V8_TAG && v8_type(walk, name) == V8_NO_TYPE;
}

/*
 * Returns the last part of a text that V8 has joined and not written down, as it does with names
 * that it has found. Sets v8->before to the part before. Other texts are returned as they are.
 */
GLOBAL u64 v8_last_part(u64 text)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	const struct runtime_v8 *config = &walk->list.config.v8;
	u32 type = v8_type(walk, text);
	u64 last;

	walk->v8.before = 0;
	if (type >= config->type_text_end || (type & V8_TEXT_FORM) != V8_TEXT_JOINED)
		return text;
	last = v8_word(walk, text, config->text_first + 8);
	if (!v8_u32(walk, last, config->text_length) && !v8_is_away(walk, last))
		return text;
	walk->v8.before = v8_word(walk, text, config->text_first);
	return last;
}

/* Finds the name of the function that was taken last. */
INLINE int v8_name(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;
	u64 name = v8->taken.name;

	v8->does = V8_PREFIX;
	v8->start = 0;
#ifdef WALK_NAMES_WASM
	v8->wasm.is_named = 0;
#endif
	if (v8_type(walk, name) == walk->list.config.v8.type_scope)
		name = v8_scope_name(name);
	name = v8_last_part(name);
	/* a later sample tells of the function */
	if (v8_is_away(walk, v8->taken.name) || v8_is_away(walk, name)) {
		v8->does = V8_NEXT;
		return 0;
	}
	v8->named = v8_find_name(walk, name);
	v8->name = v8->text.data;
	return 0;
}

/* Finds what is before that name and a dot. A name of more parts has none of them here. */
INLINE int v8_prefix(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;
	u64 dot;

	v8->does = V8_FILE;
	v8->prefix = 0;
	if (!v8->before)
		return 0;
	dot = v8_last_part(v8->before);
	if (!v8->before || v8_u32(walk, dot, walk->list.config.v8.text_length) != 1)
		return 0;
	v8->named |= v8_find_name(walk, v8->before) << V8_PREFIX_SHIFT;
	v8->prefix = v8->text.data;
	return 0;
}

/* Finds the name of the function's script. */
INLINE int v8_file(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;
	u64 script = v8->taken.script, name;

	v8->does = V8_TELL;
	v8->text.data = 0;
	if (!script)
		return 0;
	name = v8_word(walk, script, walk->list.config.v8.script_name);
	if (v8_is_wasm(v8))
		name = v8_last_part(name);
	if (v8_is_away(walk, name)) {
		v8->does = V8_NEXT;
		return 0;
	}
	v8->named |= v8_find_name(walk, name) << V8_FILE_SHIFT;
	return 0;
}

/*
 * Tells of the function that was taken last. Puts the addresses of the event's parts where the
 * config says: the name, what is before it, the name of the script, and the places.
 */
INLINE int v8_tell(struct walk *walk)
{
	struct runtime_list *list = &walk->list;
	struct v8 *v8 = &walk->v8;
	const struct v8_function *taken = &v8->taken;
	u64 table;

	v8->does = V8_NEXT;
	list->memory[0] = v8->name;
	list->memory[1] = v8->prefix;
	list->memory[2] = v8->text.data;
	list->memory[3] = list->memory[4] = 0;
	list->name = taken->script ? taken->script - V8_TAG : 0;
	if (taken->position_bytes) {
		list->memory[3] = taken->positions - V8_TAG + list->config.v8.array_data;
		list->memory[4] = taken->position_bytes;
	}
	table = taken->position_bytes;
	if (table > V8_TABLE_BYTES)
		table = V8_TABLE_BYTES;
	list->named = v8->named | table << V8_TABLE_SHIFT;
	list->call = v8->start + 1;
	list->called_in = taken->script_fingerprint;
	if (v8_is_wasm(v8)) {
		list->memory[3] = V8_TOLD_WASM;
		list->name = 0;
	}
	walk_tell(walk, taken->shared, taken->fingerprint);
	return 0;
}

#endif

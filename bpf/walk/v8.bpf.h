/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of JavaScript, whose frames V8 keeps on the stack (RUNTIME_FRAMES). The walk of the
 * stack leaves these frames by their frame pointer, and notes it. Behind the walk, the functions
 * are stored as words, and new ones are told of. V8 has no lines of functions, but places in the
 * text of a script. So further events tell where that text has newlines, and nothing else of it.
 * Pure C. The includer supplies the environment that bpf/walk/hotspot.bpf.h names.
 */
#ifndef KEYHOLE_BPF_WALK_V8_BPF_H
#define KEYHOLE_BPF_WALK_V8_BPF_H

#include "bpf/walk/address.bpf.h"
#include "bpf/walk/late.bpf.h"
#include "bpf/walk/list.bpf.h"
#include "bpf/walk/memory.bpf.h"
#include "bpf/walk/table.bpf.h"
#include "bpf/walk/walk.bpf.h"

GLOBAL u64 walk_leaf_place(void);   /* fallback.bpf.h */
GLOBAL int walk_moves_return(void); /* the same */

/* ---- notes ---- */

/* Returns whether all fields lie in what the walk reads of them. */
INLINE int v8_is_within(const struct runtime_v8 *config)
{
	u32 last = config->shared_data;

	if (config->shared_name > last)
		last = config->shared_name;
	if (config->shared_script > last)
		last = config->shared_script;
	if (config->shared_counts > last)
		last = config->shared_counts;
	if (config->shared_number > last)
		last = config->shared_number;
	return (last & ~7u) + 8 <= config->shared_bytes &&
	       config->shared_bytes <= RUNTIME_HEAD_BYTES;
}

/* Returns whether an address is in code of V8, or in the image that has V8. */
GLOBAL int v8_is_there(u64 inside)
{
	struct walk *walk = walk_state();

	if (!walk || walk->v8.is_known == V8_IS_ELSEWHERE || table_find_mapping(inside) ||
	    !walk->mapping_runtime)
		return 0;
	struct v8 *v8 = &walk->v8;
	u32 is_of_image = walk->mapping_flags & MAPPING_HAS_TABLE;

	if (v8->is_known)
		return 1;
	v8->is_known = V8_IS_ELSEWHERE;
	if (walk_has_copy(walk) || !walk_may_list() ||
	    runtime_copy_config(walk->mapping_runtime, walk->bias) ||
	    (walk->list.config.flags & RUNTIME_FRAMES) != RUNTIME_FRAMES ||
	    !v8_is_within(&walk->list.config.v8))
		return 0;
	v8->is_known = V8_IS_HERE;
	/* V8 maps its builtins a second time: the bias of a mapping says nothing of others */
	walk->marked = inside;
	if (!is_of_image)
		walk->marked = walk->list.config.v8.inside + walk->bias;
	return 1;
}

#define V8_TAG	      1ull
#define V8_MARKER_END 128u /* small numbers that stand for kinds of frames */
#define RULE_V8_FRAME RULE_MAKE(RULE_BP, 0, 1, 16, 0)
#define RULE_V8_LEAF  RULE_MAKE(RULE_SP, 0, 0, 8, 0)

/* Words below a frame pointer (execution/frame-constants.h). */
enum v8_frame_word {
	V8_FRAME_PLACE,
	V8_FRAME_BYTECODE,
	V8_FRAME_COUNT,
	V8_FRAME_FUNCTION,
	V8_FRAME_CONTEXT
};

/* Returns whether a word of the stack is an address behind a call in V8's code. */
GLOBAL int v8_is_returned_to(u64 at)
{
	struct walk *walk = walk_state();

	return walk && !(at & 7) && !walk_read_word(at) && walk_after_call(walk, walk->word) &&
	       !table_find_mapping(walk->word - 1) && walk->mapping_runtime;
}

/*
 * Finds the rule of a frame without one, where V8's code has a frame pointer for sure. A piece of
 * the interpreter is called, and has no frame: it shares that of the function. So do builtins that
 * compiled code has called. Returns whether there is a rule.
 */
GLOBAL int v8_rule(u64 inside)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct v8 *v8 = &walk->v8;
	u64 at = walk->reg[REG_RBP] - sizeof(v8->frame), context;
	u32 is_of_image;

	v8->is_inside = v8_is_there(inside);
	is_of_image = walk->mapping_flags & MAPPING_HAS_TABLE;
	if (!v8->is_inside || at & 7)
		return 0;
	walk->reads++;
	if (at - 4096 >= WALK_ADDRESS_END - 4096 || walk_read(v8->frame, sizeof(v8->frame), at))
		return 0;
	context = v8->frame[V8_FRAME_CONTEXT];
	if (!(context & V8_TAG) && context >= V8_MARKER_END)
		return 0;
	walk->rule = RULE_V8_FRAME;
	if (!walk->exact)
		return 1;
	/*
	 * Without a function, the frame is that of a builtin, which may have called another one
	 * without a frame. Both are V8's own code, and the frame pointer leads to the function.
	 */
	if (is_of_image && context & V8_TAG && v8_is_returned_to(walk->reg[REG_RSP])) {
		walk->rule = RULE_V8_LEAF;
		return !(walk->mapping_flags & MAPPING_HAS_TABLE) ||
		       (v8->frame[V8_FRAME_BYTECODE] & V8_TAG && !(u32)v8->frame[V8_FRAME_PLACE]);
	}
	return walk_leaf_place() == LEAF_UNKNOWN && !walk_moves_return();
}

/* Notes the frame at a pointer by which the walk has left code of V8. Returns 0. */
GLOBAL int v8_note(u64 bp)
{
	struct walk *walk = walk_state();

	if (!walk || !walk->v8.is_inside || walk->reg[REG_RSP] != bp + 16)
		return 0;
	u64 at = BOUND((u64)walk->marks, RECORD_FRAMES_MAX), frame = walk->frames - 1;

	/* V8's code keeps frame pointers, so what else may be a return address says nothing */
	if (walk->guessed & FRAME_BY_POINTER)
		walk->guessed = 0;
	walk->mark[at] = (bp & MARK_ADDRESS) | frame << MARK_FRAME_SHIFT;
	walk->marks = at + 1;
	return 0;
}

/* ---- objects ---- */

#define V8_NO_TYPE 0xffffffffu

/* Returns the word at an offset in an object, or 0. */
INLINE u64 v8_word(struct walk *walk, u64 object, u32 at)
{
	if (!(object & V8_TAG) || runtime_read_word(object - V8_TAG + at))
		return 0;
	return walk->list.word;
}

INLINE u32 v8_u32(struct walk *walk, u64 object, u32 at)
{
	return v8_word(walk, object, at & ~7u) >> (at & 4) * 8;
}

/* Returns the type that a map says, or V8_NO_TYPE. */
INLINE u32 v8_type_of_map(struct walk *walk, u64 map)
{
	if (!(map & V8_TAG))
		return V8_NO_TYPE;
	u32 at = walk->list.config.v8.map_type;

	if (runtime_read_word(map - V8_TAG + (at & ~7u)))
		return V8_NO_TYPE;
	return walk->list.word >> (at & 6) * 8 & 0xffff;
}

INLINE u32 v8_type(struct walk *walk, u64 object)
{
	return v8_type_of_map(walk, v8_word(walk, object, 0));
}

/* Returns whether an object has the type of a kind. */
GLOBAL int v8_is(u64 object, u32 kind)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	const struct runtime_v8 *config = &walk->list.config.v8;
	u64 map = v8_word(walk, object, 0), *known = walk->v8.map;
	u32 type = config->type_shared;

	if (kind == V8_KIND_SCRIPT)
		type = config->type_script;
	if (kind == V8_KIND_BYTECODE)
		type = config->type_bytecode;
	if (kind >= V8_KINDS || !map)
		return 0;
	if (known[kind] == map)
		return 1;
	if (v8_type_of_map(walk, map) != type)
		return 0;
	known[kind] = map;
	return 1;
}

/* Types of texts: objects/instance-type.h */
#define V8_TEXT_FORM	 7u
#define V8_TEXT_ONE_BYTE 8u
#define V8_TEXT_UNCACHED 16u
enum v8_form {
	V8_TEXT_PLAIN = 0,
	V8_TEXT_JOINED = 1, /* of two; where the second is empty, the first is the text */
	V8_TEXT_OUTSIDE = 2,
	V8_TEXT_SLICE = 3,
	V8_TEXT_THIN = 5
};

/* Follows a text to that which has its characters: v8->text. Returns the next text, or 0. */
GLOBAL u64 v8_follow(u64 text)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	const struct runtime_v8 *config = &walk->list.config.v8;
	struct v8_text *found = &walk->v8.text;
	u32 type = v8_type(walk, text), form = type & V8_TEXT_FORM;

	if (type >= config->type_text_end)
		return 0;
	found->is_wide = !(type & V8_TEXT_ONE_BYTE);
	if (form == V8_TEXT_PLAIN) {
		found->data += text - V8_TAG + config->text_data;
		return 0;
	}
	if (form == V8_TEXT_OUTSIDE) {
		u64 data = 0;

		if (!(type & V8_TEXT_UNCACHED))
			data = v8_word(walk, text, config->text_resource);
		found->data = data ? found->data + data : 0;
		return 0;
	}
	if (form == V8_TEXT_SLICE)
		found->data += v8_word(walk, text, config->text_offset) >> 32;
	if (form == V8_TEXT_JOINED) {
		u64 second = v8_word(walk, text, config->text_first + 8);

		if (v8_u32(walk, second, config->text_length))
			return 0;
	} else if (form != V8_TEXT_SLICE && form != V8_TEXT_THIN) {
		return 0;
	}
	return v8_word(walk, text, config->text_first);
}

/* Finds the characters of a text: v8->text. Returns their number, or 0 where they are not found. */
GLOBAL u32 v8_find_text(u64 text)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	const struct runtime_v8 *config = &walk->list.config.v8;
	struct v8_text *found = &walk->v8.text;
	u32 type = v8_type(walk, text);

	found->length = 0;
	if (type >= config->type_text_end)
		return 0;
	u32 length = v8_u32(walk, text, config->text_length);
	u64 skipped = 0;

	NOT_UNROLLED
	for (u32 i = 0; i < V8_LINKS && text; i++) {
		found->data = 0;
		text = v8_follow(text);
		/* slices lead to their parent */
		if (text)
			skipped += found->data;
	}
	if (text || found->data < 4096)
		return 0;
	found->data += found->is_wide ? skipped * 2 : skipped;
	found->length = length;
	return length;
}

/* ---- functions ---- */

INLINE u64 v8_mix_all(u64 first, u64 second)
{
	u64 mixed = first * 0x9e3779b97f4a7c15ull;

	return (mixed ^ second ^ mixed >> 29) * 0x9e3779b97f4a7c15ull;
}

INLINE u32 v8_mix(u64 first, u64 second)
{
	return v8_mix_all(first, second) >> 32;
}

/* Returns a number of all that tells functions apart, as far as no garbage collection moves it. */
INLINE u64 v8_seen(const struct runtime_list *list, u64 number)
{
	const struct runtime_v8 *config = &list->config.v8;
	u64 seen = v8_mix_all(runtime_u64(list, config->shared_name), number);

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

/* Finds the interpreter's code of a function, which compiled code may lead to. */
INLINE u64 v8_bytecode(struct walk *walk, u64 data)
{
	const struct runtime_v8 *config = &walk->list.config.v8;

	if (v8_is(data, V8_KIND_BYTECODE))
		return data;
	if (v8_type(walk, data) != config->type_code)
		return 0;
	data = v8_word(walk, data, config->code_bytecode);
	return v8_is(data, V8_KIND_BYTECODE) ? data : 0;
}

/* Finds out all of a function, whose shared part is in list->memory. Returns 0 when it is one. */
GLOBAL int v8_look_up(u64 shared, u64 number)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct v8_function *taken = &walk->v8.taken;
	const struct runtime_list *list = &walk->list;
	const struct runtime_v8 *config = &list->config.v8;
	u64 counts = runtime_u64(list, config->shared_counts);
	u64 data = runtime_u64(list, config->shared_data);
	u64 source;

	if (!v8_is(shared, V8_KIND_SHARED))
		return 1;
	taken->shared = shared - V8_TAG;
	taken->name = runtime_u64(list, config->shared_name);
	taken->script = runtime_u64(list, config->shared_script);
	taken->script_fingerprint = 0;
	if (v8_is(taken->script, V8_KIND_SCRIPT)) {
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
	if (!taken->bytecode && v8_is(walk->v8.frame[V8_FRAME_BYTECODE], V8_KIND_BYTECODE))
		taken->bytecode = walk->v8.frame[V8_FRAME_BYTECODE];
	v8_take_positions(walk, taken);
	number = number << 32 | runtime_u64(list, config->shared_number) >> 32;
	taken->fingerprint =
		v8_mix(number, (counts >> 16 & 0xffffffff) ^ (u64)taken->position_bytes << 32);
	return 0;
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
	struct v8_function *known = &v8->function[function >> 5 & (V8_FUNCTIONS - 1)];
	u64 shared, number = 0, seen;

	if (known->function == function && known->walk == v8->walk) {
		v8->taken = *known;
		return 0;
	}
	shared = v8_word(walk, function, config->function_shared);
	if (!(shared & V8_TAG) || runtime_read(config->shared_bytes, shared - V8_TAG))
		return 1;
	number = v8_word(walk, runtime_u64(list, config->shared_script), config->script_number);
	seen = v8_seen(list, number);
	if (known->shared + V8_TAG != shared || known->seen != seen ||
	    v8->walk - known->looked_up >= V8_WALKS) {
		if (v8_look_up(shared, number))
			return 1;
		v8->taken.seen = seen;
		v8->taken.looked_up = v8->walk;
		*known = v8->taken;
	}
	known->function = function;
	known->walk = v8->walk;
	v8->taken = *known;
	if (!walk_told(walk, known->shared, known->fingerprint))
		v8->does = V8_NAME;
	return 0;
}

/* A scope's flags (objects/scope-info.tq). */
#define V8_SCOPE_TYPE	  15u
#define V8_SCOPE_CLASS	  (1u << 10) /* a further word */
#define V8_SCOPE_NAMED	  (3u << 12) /* two further words: the name of the function */
#define V8_SCOPE_INFERRED (1u << 14) /* a further word: a name that V8 has found for it */

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
	if (!v8_u32(walk, last, config->text_length))
		return text;
	walk->v8.before = v8_word(walk, text, config->text_first);
	return last;
}

/* Finds the name of the function that was taken last. */
GLOBAL int v8_name(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct v8 *v8 = &walk->v8;
	u64 name = v8->taken.name;

	v8->does = V8_PREFIX;
	v8->start = 0;
	if (v8_type(walk, name) == walk->list.config.v8.type_scope)
		name = v8_scope_name(name);
	v8->named = v8_find_name(walk, v8_last_part(name));
	v8->name = v8->text.data;
	return 0;
}

/* Finds what is before that name and a dot. A name of more parts has none of them here. */
GLOBAL int v8_prefix(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
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
GLOBAL int v8_file(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct v8 *v8 = &walk->v8;
	u64 script = v8->taken.script, name;

	v8->does = V8_TELL;
	v8->text.data = 0;
	if (!script)
		return 0;
	name = v8_word(walk, script, walk->list.config.v8.script_name);
	v8->named |= v8_find_name(walk, name) << V8_FILE_SHIFT;
	return 0;
}

/*
 * Tells of the function that was taken last. Puts the addresses of the event's parts where the
 * config says: the name, what is before it, the name of the script, and the places.
 */
GLOBAL int v8_tell(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct runtime_list *list = &walk->list;
	struct v8 *v8 = &walk->v8;
	const struct v8_function *taken = &v8->taken;

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
	list->named = v8->named;
	list->call = v8->start + 1;
	list->called_in = taken->script_fingerprint;
	walk_tell(walk, taken->shared, taken->fingerprint);
	return 0;
}

/* ---- newlines ---- */

/* Returns a number of the script of a function, in a process. */
INLINE u64 v8_script_key(const struct walk *walk, u64 script, u32 fingerprint)
{
	return (script ^ (u64)fingerprint << 32) + walk->seed;
}

/* Returns whether the text of a script is not in memory. */
INLINE int v8_is_unread(const struct walk *walk, u64 script, u32 fingerprint)
{
	u64 key = v8_script_key(walk, script, fingerprint);
	int found = 0;

	NOT_UNROLLED
	for (u32 i = 0; i < V8_UNREAD; i++)
		found |= walk->v8.unread[i] == key;
	return found;
}

/* Remembers the script of a function, whose newlines no event has told of. */
INLINE void v8_want(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;
	const struct v8_function *taken = &v8->taken;

	if (v8->script || !taken->script ||
	    v8_is_unread(walk, taken->script, taken->script_fingerprint) ||
	    walk_told(walk, taken->script - V8_TAG, taken->script_fingerprint - 1))
		return;
	v8->script = taken->script;
	v8->script_fingerprint = taken->script_fingerprint;
}

/* Begins to look for newlines, where an earlier walk has ended. Returns 0. */
GLOBAL int v8_begin_script(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct v8 *v8 = &walk->v8;
	u64 scanned = v8_script_key(walk, v8->script, v8->script_fingerprint);

	v8->does = V8_SCAN;
	v8->at = v8->chunks = 0;
	if (v8->scanned != scanned)
		v8->chunk = 0;
	v8->scanned = scanned;
	v8_find_text(v8_word(walk, v8->script, walk->list.config.v8.script_source));
	v8->source = v8->text;
	/* no event has bytes of an earlier walk */
	__builtin_memset(walk->window, 0, CODE_TINY_END);
	walk->window_bytes = 0;
	return 0;
}

/* Returns a bit for each newline in a word: of 8 characters, or of 4 in the lowest bits. */
INLINE u64 v8_newlines(u64 word, u32 is_wide)
{
	u64 low = is_wide ? 0x7fff7fff7fff7fffull : 0x7f7f7f7f7f7f7f7full;
	u64 x = word ^ (is_wide ? 0x000a000a000a000aull : 0x0a0a0a0a0a0a0a0aull);

	x = ~(((x & low) + low) | x | low);
	if (is_wide)
		return (x >> 15) * 0x1000200040008000ull >> 60;
	return (x >> 7) * 0x0102040810204080ull >> 56;
}

/* Finds the newlines of the block in list->memory, of characters from v8->at on. Returns 0. */
GLOBAL int v8_block(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	u32 is_wide = walk->v8.source.is_wide, bits = is_wide ? 4 : 8;
	u64 at = walk->v8.at;

	NOT_UNROLLED
	for (u32 i = 0; i < V8_BLOCK_BYTES / 8; i++) {
		u64 found = v8_newlines(walk->list.memory[i], is_wide);

		walk->window[at >> 6 & (CODE_TINY_END / 8 - 1)] |= found << (at & 63);
		at += bits;
	}
	return 0;
}

/* Tells of a chunk's newlines. Returns whether the event was sent. */
INLINE int v8_send(struct walk *walk, u32 number)
{
	struct v8 *v8 = &walk->v8;
	int sent;

	walk->hotspot.inlined = CODE_TINY_END / 16;
	sent = walk_tell_inlined(walk, v8->script - V8_TAG, v8->script_fingerprint + number);
	__builtin_memset(walk->window, 0, CODE_TINY_END);
	v8->at = 0;
	return sent && ++v8->chunks < V8_CHUNKS;
}

/* Looks at the next block of a script. Returns 0 to go on, or 1 at the end. */
GLOBAL int v8_scan(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct v8 *v8 = &walk->v8;
	u32 unit = v8->source.is_wide ? 2 : 1, first = v8->chunk * V8_CHUNK + v8->at;
	u32 length = v8->source.length;
	u64 bytes = V8_BLOCK_BYTES, left;

	if (length > V8_LENGTH_MAX)
		length = V8_LENGTH_MAX;
	if (first >= length) {
		if (v8->at && !v8_send(walk, v8->chunk))
			return 1;
		v8->chunk = 0;
		v8_send(walk, ~0u);
		return 1;
	}
	if (!v8->at && walk_told(walk, v8->script - V8_TAG, v8->script_fingerprint + v8->chunk)) {
		v8->chunk++;
		return 0;
	}
	left = (u64)(length - first) * unit;
	if (left < bytes) {
		bytes = left;
		__builtin_memset(walk->list.memory, 0, V8_BLOCK_BYTES);
	}
	u64 from = v8->source.data + (u64)first * unit;

	walk->list.reads++;
	bytes = BOUND(bytes, V8_BLOCK_BYTES + 1);
	if (from - 4096 >= WALK_ADDRESS_END - 4096 || walk_read(walk->list.memory, bytes, from)) {
		v8->unread[v8->unread_next++ & (V8_UNREAD - 1)] = v8->scanned;
		return 1;
	}
	v8_block();
	v8->at += V8_BLOCK_BYTES / unit;
	if (v8->at < V8_CHUNK)
		return 0;
	if (!v8_send(walk, v8->chunk))
		return 1;
	v8->chunk++;
	return 0;
}

/* ---- words ---- */

/* Returns the place of a frame in the interpreter's code, or RUNTIME_OFFSET_NONE. */
INLINE u64 v8_place(const struct walk *walk, u64 frame)
{
	const struct v8 *v8 = &walk->v8;
	const u64 *word = v8->frame;
	u64 first = walk->list.config.v8.bytecode_data - V8_TAG, place;

	if (!v8->taken.bytecode || word[V8_FRAME_BYTECODE] != v8->taken.bytecode)
		return RUNTIME_OFFSET_NONE;
	/* compiled code has a pointer in this place */
	if ((u32)word[V8_FRAME_PLACE])
		return RUNTIME_OFFSET_NONE;
	place = word[V8_FRAME_PLACE] >> 32;
	if (!frame && v8->leaf_code == word[V8_FRAME_BYTECODE] && v8->leaf_place >= first &&
	    v8->leaf_place < V8_LENGTH_MAX)
		place = v8->leaf_place;
	place -= first;
	return place < V8_LENGTH_MAX ? place : RUNTIME_OFFSET_NONE;
}

/* Stores the function of the next frame that was noted. Returns 0 to go on, or 1 at the end. */
INLINE int v8_take_mark(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;
	struct runtime_list *list = &walk->list;
	u64 number = BOUND((u64)v8->next, RECORD_FRAMES_MAX);
	u64 at = (walk->mark[number] & MARK_ADDRESS) - sizeof(v8->frame);
	u64 frame = walk->mark[number] >> MARK_FRAME_SHIFT;

	if (v8->next >= walk->marks) {
		v8->does = V8_SCRIPT;
		return v8->script ? 0 : runtime_end(list, RUNTIME_WHOLE);
	}
	v8->next++;
	list->reads++;
	if (!runtime_is_address(at) || walk_read(v8->frame, sizeof(v8->frame), at))
		return 0;
	/* frames of other kinds have a small number in place of the context */
	if (!(v8->frame[V8_FRAME_CONTEXT] & V8_TAG) ||
	    v8_take_function(v8->frame[V8_FRAME_FUNCTION]))
		return 0;
	if (walk_store(walk, list->words, RUNTIME_WORD_FRAME | v8->taken.shared,
		       v8_place(walk, frame) << 32 | v8->taken.fingerprint))
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	list->words += 2;
	if (walk_store(walk, list->words++, RUNTIME_WORD_BORDER | frame, 0))
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	v8_want(walk);
	return 0;
}

/* Does the next step for the functions of frames. Returns 0 to go on, or 1 at the end. */
GLOBAL int v8_step(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct v8 *v8 = &walk->v8;
	struct runtime_list *list = &walk->list;

	if (v8->does == V8_SCRIPT)
		return v8_begin_script();
	if (v8->does == V8_SCAN) {
		if ((walk_work(walk) >= walk->look_at && walk_late()) || v8_scan())
			return runtime_end(list, RUNTIME_WHOLE);
		return 0;
	}
	if (list->words + 4 > RECORD_RUNTIME_WORDS_MAX)
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	if (walk_work(walk) >= walk->look_at && walk_late())
		return runtime_end(list, RUNTIME_CUT_BUDGET);
	if (v8->does == V8_NEXT)
		return v8_take_mark(walk);
	if (v8->does == V8_NAME)
		return v8_name();
	if (v8->does == V8_PREFIX)
		return v8_prefix();
	return v8->does == V8_FILE ? v8_file() : v8_tell();
}

/* Begins to store the functions of the frames that the walk has noted. The config is V8's. */
INLINE int v8_begin(struct walk *walk)
{
	struct v8 *v8 = &walk->v8;

	if (v8->is_known != V8_IS_HERE)
		return runtime_end(&walk->list, RUNTIME_NONE_MET);
	if (v8->key != walk->seed) {
		__builtin_memset(v8->map, 0, sizeof(v8->map));
		NOT_UNROLLED
		for (u32 i = 0; i < V8_FUNCTIONS; i++)
			v8->function[i].shared = v8->function[i].function = 0;
	}
	v8->key = walk->seed;
	v8->walk++;
	v8->next = 0;
	v8->does = V8_NEXT;
	v8->script = 0;
	walk_leaf(walk);
	v8->leaf_code = walk->window[V8_LEAF_CODE];
	v8->leaf_place = walk->window[V8_LEAF_PLACE];
	return 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The walk over the frames that an interpreter keeps of the program's functions (bpf/abi.h). This
 * walk comes after that of the stack, which has marked the frames of the interpreter. A list that
 * nothing ties to the stack may come before. Pure C, see bpf/walk/walk.bpf.h.
 * The includer supplies the environment of bpf/walk/step.bpf.h, and:
 *   walk_thread_pointer()          of the current task
 *   walk_list_time(walk)           ns of the walk that the list gets, behind many frames of its
 *                                  interpreter
 *   walk_store(walk, at, first, second)  stores words number `at` and behind it, behind the user
 *                                  frames; 0 when stored
 *   walk_leaf(walk)                puts the leaf's registers in the first RUNTIME_SCAN_WORDS of the
 *                                  window, those that calls preserve first
 *   walk_leaf_stack(walk)          the leaf's stack pointer
 *   walk_tell(walk, code, fingerprint)  tells the worker of code that is new, as the list's config
 *                                  says
 *   walk_told(walk, code, fingerprint)  returns whether nobody has to be told of code
 *
 * The worker, which writes the config, may have been taken over. So the config makes BPF read any
 * memory of the process. The caller has made sure that the process has a grant.
 */
#ifndef KEYHOLE_BPF_WALK_RUNTIME_BPF_H
#define KEYHOLE_BPF_WALK_RUNTIME_BPF_H

#include "bpf/walk/control.bpf.h"
#include "bpf/walk/hotspot.bpf.h"
#include "bpf/walk/late.bpf.h"
#include "bpf/walk/list.bpf.h"
#include "bpf/walk/memory.bpf.h"
#include "bpf/walk/name.bpf.h"
#include "bpf/walk/scopes.bpf.h"
#include "bpf/walk/stacked.bpf.h"
#include "bpf/walk/state.bpf.h"
#include "bpf/walk/table.bpf.h"
#include "bpf/walk/v8.bpf.h"
#include "bpf/walk/walk.bpf.h"

/* Thread-specific data: nptl/pthread_getspecific.c of glibc 2.31 to 2.42, musl 1.2 */
#define GLIBC_KEYS	32u    /* in a block */
#define GLIBC_KEYS_MAX	1024u  /* PTHREAD_KEYS_MAX */
#define GLIBC_KEYS_AT	0x310u /* the first block, behind the thread pointer */
#define GLIBC_BLOCKS_AT 0x510u /* the addresses of all blocks; 0: none */
#define GLIBC_KEY_BYTES 16u
#define GLIBC_KEY_VALUE 8u
#define MUSL_KEYS_AT	0x80u
#define THREAD_DTV_AT	8u
#define GLIBC_DTV_BYTES 16u
#define MUSL_DTV_BYTES	8u

/* ---- roots ---- */

/* Returns where the value of a pthread key is, or 0. */
INLINE u64 runtime_key_place(struct runtime_list *list, u64 thread, u32 key, u32 start)
{
	u64 block = thread + GLIBC_KEYS_AT;

	if (start == RUNTIME_AT_KEY_MUSL) {
		if (runtime_read_word(thread + MUSL_KEYS_AT))
			return 0;
		return list->word + key * 8ull;
	}
	if (key >= GLIBC_KEYS_MAX)
		return 0;
	if (key >= GLIBC_KEYS) {
		if (runtime_read_word(thread + GLIBC_BLOCKS_AT + key / GLIBC_KEYS * 8ull))
			return 0;
		block = list->word;
	}
	if (!block)
		return 0;
	return block + key % GLIBC_KEYS * GLIBC_KEY_BYTES + GLIBC_KEY_VALUE;
}

/* Returns a place in the thread-local memory of a module, or 0. at: its number and offset. */
INLINE u64 runtime_module_place(struct runtime_list *list, u64 thread, u64 at, u32 start)
{
	u64 module = list->word & 0xffff, offset;

	if (runtime_read_word(at + 8))
		return 0;
	offset = list->word;
	if (runtime_read_word(thread + THREAD_DTV_AT))
		return 0;
	if (start == RUNTIME_AT_MODULE_MUSL || start == RUNTIME_AT_DESCRIPTOR_MUSL)
		module *= MUSL_DTV_BYTES;
	else
		module *= GLIBC_DTV_BYTES;
	if (runtime_read_word(list->word + module))
		return 0;
	return list->word + offset;
}

/* Returns the place that a descriptor stands for, or 0. */
INLINE u64 runtime_descriptor_place(struct runtime_list *list, u64 thread, u64 at, u32 start)
{
	if (runtime_read_word(at + 8))
		return 0;
	if ((s64)list->word < 0) /* the module's memory is always there, below the thread pointer */
		return thread + list->word;
	at = list->word;
	if (runtime_read_word(at))
		return 0;
	return runtime_module_place(list, thread, at, start);
}

/* Returns the state of the thread that holds a lock, or 0: this thread does not. */
INLINE u64 runtime_holder(struct runtime_list *list, u64 thread, u64 at)
{
	if (runtime_read_word(at))
		return 0;
	u64 state = list->word;

	if (runtime_read_word(state + list->config.holder) || list->word != thread)
		return 0;
	return state;
}

/* Returns the start of a root, or 0. */
INLINE u64 runtime_start(struct runtime_list *list, const struct runtime_root *root)
{
	u64 thread = walk_thread_pointer(), at = root->pc + list->bias;
	u32 start = root->start;

	if (start == RUNTIME_AT_PC)
		return at;
	if (start == RUNTIME_AT_THREAD)
		return thread;
	if (start == RUNTIME_AT_HOLDER)
		return runtime_holder(list, thread, at);
	if (start == RUNTIME_AT_DESCRIPTOR || start == RUNTIME_AT_DESCRIPTOR_MUSL)
		return runtime_descriptor_place(list, thread, at, start);
	if (start == RUNTIME_AT_NOTHING || runtime_read_word(at & ~7ull))
		return 0;
	if (start == RUNTIME_AT_OFFSET)
		return thread + list->word;
	if (start == RUNTIME_AT_KEY || start == RUNTIME_AT_KEY_MUSL)
		return runtime_key_place(list, thread, list->word >> (at & 4) * 8, start);
	return runtime_module_place(list, thread, at, start);
}

/* Follows a root of the config. Returns the pointer to which it leads, or 0. */
GLOBAL u64 runtime_follow(u32 number)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct runtime_list *list = &walk->list;
	const struct runtime_root *root = &list->config.root[number & 1];
	u64 value = runtime_start(list, root);

	NOT_UNROLLED
	for (u32 i = 0; i < RUNTIME_STEPS_MAX && i < root->steps; i++) {
		if (!value || runtime_read_word(value + (s64)root->offset[i]))
			return 0;
		list->anchor = value;
		value = list->word;
	}
	return value;
}

/* ---- frames ---- */

/*
 * Finds list->name, of a function's class. list->memory has the function. Returns whether its own
 * name is in memory, or its file's where it has none. Processes may share texts, and one that lacks
 * the page leaves it to another to tell.
 */
INLINE int runtime_find_names(struct walk *walk)
{
	struct runtime_list *list = &walk->list;
	const struct runtime_config *config = &list->config;
	u64 class = runtime_u64(list, config->owner.pointer);
	u64 text = runtime_u64(list, config->part[1]);

	list->name = 0;
	if (class && !runtime_read_word(class + config->owner.text))
		list->name = list->word + config->owner.data;
	if (!text)
		text = runtime_u64(list, config->part[2]);
	return !text || !runtime_read_word(text);
}

/* Returns the address of one copy of the instructions of code, or 0. */
INLINE u64 runtime_copy(struct walk *walk, u64 code, u64 number)
{
	if (runtime_read_word(code + walk->list.config.copies))
		return 0;
	if (runtime_read_word(walk->list.word + 8 + number * 8))
		return 0;
	return walk->list.word;
}

/* Returns the offset or index of the instruction that a frame is at, or RUNTIME_OFFSET_NONE. */
INLINE u32 runtime_offset(struct walk *walk, struct runtime_code *known, u64 instruction,
			  u32 number)
{
	const struct runtime_list *list = &walk->list;
	u64 first = known->code + list->config.instructions;

	if (list->config.flags & RUNTIME_INDEX)
		return instruction < RUNTIME_OFFSET_NONE ? instruction : RUNTIME_OFFSET_NONE;
	if (number && number != known->number) {
		known->copy = runtime_copy(walk, known->code, number);
		known->number = number;
	}
	if (number || list->config.flags & RUNTIME_POINTED)
		first = known->copy;
	if (!first || instruction - first >= RUNTIME_OFFSET_NONE)
		return RUNTIME_OFFSET_NONE;
	return instruction - first;
}

#define RUNTIME_FAR_MAX	 (1u << 27) /* bytes of instructions */
#define RUNTIME_FAR_UNIT 32u	    /* RUNTIME_WIDE */

/* Returns the place of an instruction that is behind those of an event: its line, if it has one. */
INLINE u64 runtime_far_place(struct walk *walk, u64 instruction, u64 offset)
{
	u32 at = walk->list.config.owner.line;

	if (!at || offset >= RUNTIME_FAR_MAX || offset & (RUNTIME_FAR_UNIT - 1) ||
	    runtime_read_word((instruction + at) & ~7ull))
		return offset;
	u32 line = walk->list.word >> ((instruction + at) & 4) * 8;

	if (!line || line > RUNTIME_OFFSET_NONE >> RUNTIME_PLACE_SHIFT)
		return offset;
	return (u64)line << RUNTIME_PLACE_SHIFT | RUNTIME_PLACE_LINE;
}

/*
 * Stores a frame, whose code is at an address. number: of the copy of the instructions. Returns 0,
 * or the result that ends the walk.
 */
GLOBAL int runtime_frame(u64 code, u64 instruction, u32 number)
{
	struct walk *walk = walk_state();

	if (!walk)
		return RUNTIME_CUT_READ;
	struct runtime_list *list = &walk->list;
	struct runtime_code *known = &list->known[code >> 5 & (RUNTIME_CODES - 1)];

	if (known->code != code) {
		if (runtime_read(list->code_bytes, code))
			return RUNTIME_CUT_READ;
		known->fingerprint = runtime_fingerprint(list);
		known->code = code;
		known->number = 0;
		if (list->config.flags & RUNTIME_POINTED)
			known->copy = runtime_u64(list, list->config.instructions);
		else
			known->copy = code + list->config.instructions;
		if (!list->words && list->config.count && !walk->made)
			instruction = runtime_leaf_instruction(instruction, known->copy);
		if (list->may_name) {
			if (!walk_told(walk, code, known->fingerprint)) {
				list->unnamed = code;
				list->fingerprint = known->fingerprint;
			}
		} else if (!(list->config.flags & RUNTIME_OWNED) || runtime_find_names(walk)) {
			list->told_at = instruction;
			walk_tell(walk, code, known->fingerprint);
		}
	}
	u64 offset = runtime_offset(walk, known, instruction, number);

	if (list->config.flags & RUNTIME_OWNED && offset >= CODE_LAST_BYTES)
		offset = runtime_far_place(walk, instruction, offset);
	list->stored.code = code;
	list->stored.instruction = instruction;
	list->stored.place = offset << 32 | known->fingerprint;
	return runtime_store(walk);
}

/* Stores a frame, without a call where it is at the place of the frame before: in a recursion. */
INLINE int runtime_next_frame(struct walk *walk, u64 code, u64 instruction, u32 number)
{
	const struct runtime_place *stored = &walk->list.stored;

	if (code == stored->code && instruction == stored->instruction)
		return runtime_store(walk);
	return runtime_frame(code, instruction, number);
}

/* Finds the mark of the activation that ends at a border. */
INLINE u64 runtime_activation(struct walk *walk, u64 node)
{
	struct runtime_list *list = &walk->list;
	u64 anchor = list->anchor;

	if (list->config.flags & RUNTIME_ANCHOR_NODE)
		return runtime_mark_of(node);
	if (!anchor || runtime_read_word(anchor + list->config.anchor_previous))
		list->anchor = 0;
	else
		list->anchor = list->word & HANDLER_ADDRESS;
	return runtime_mark_of(anchor);
}

/* Stores a border behind frames. Returns 0, or 1 without room. */
GLOBAL int runtime_border(u64 node)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	u64 mark = runtime_activation(walk, node), frame = RUNTIME_BORDER_NOWHERE;

	if (mark < walk->marks)
		frame = walk->mark[BOUND(mark, RECORD_FRAMES_MAX)] >> MARK_FRAME_SHIFT;
	if (!walk->list.open)
		return 0;
	walk->list.open = 0;
	walk->list.borders++;
	return walk_store(walk, walk->list.words++, RUNTIME_WORD_BORDER | frame, 0);
}

/* Takes a frame of a list with states. Returns 0 to go on, or 1 at the end. */
GLOBAL int runtime_state_step(u64 node, u64 code, u64 instruction, u32 is_border, u32 tail)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct runtime_list *list = &walk->list;
	u32 flags = list->config.flags;
	int r;

	if (code && flags & RUNTIME_OBJECT)
		code = runtime_object(code);
	if (list->unnamed) {
		/* this frame comes again when its caller's name is known */
		list->node = node;
		list->called_in = tail;
		runtime_ask(list, code, instruction);
		return 0;
	}
	if (list->instruction)
		instruction = list->instruction;
	list->instruction = 0;
	list->may_name = flags & RUNTIME_NAMES && !(tail & list->config.names.tail_mask);
	if (flags & RUNTIME_BORDER_CALLER && runtime_is_border_of(list, code, instruction) &&
	    runtime_border(0))
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	if (!code)
		return 0;
	r = runtime_next_frame(walk, code, instruction, 0);
	if (r)
		return runtime_end(list, r);
	if (is_border && runtime_border(0))
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	return 0;
}

/* Goes on where a list of frames has ended. Returns 0 to go on, or 1 at the end. */
INLINE int runtime_list_end(struct runtime_list *list)
{
	if (list->config.root[0].start != RUNTIME_AT_SCAN)
		return runtime_end(list, RUNTIME_WHOLE);
	if (list->unnamed) {
		runtime_ask(list, 0, 0);
		return 0;
	}
	return list->state ? runtime_leave_state() : runtime_scan();
}

/* Finds the frame behind that of a generator, for which others wait. */
INLINE u64 runtime_waiting(struct runtime_list *list, const struct runtime_owner *owner)
{
	u64 generator = list->generator;

	if (generator != list->outermost && !runtime_read_word(generator + owner->waiting_count) &&
	    (u32)list->word == 1 && !runtime_read_word(generator + owner->waiting) &&
	    !runtime_read_word(list->word + owner->frame))
		return list->word;
	list->outermost = 0;
	return list->behind;
}

/*
 * Finds list->node behind a frame of a list with generators, which the window has. Returns whether
 * the frame is a function's.
 */
INLINE int runtime_is_function(struct walk *walk, u64 node, u64 code)
{
	struct runtime_list *list = &walk->list;
	const struct runtime_owner *owner = &list->config.owner;

	if (code) {
		list->generator = runtime_node_u64(walk, node, list->config.shown);
	} else if (runtime_node_u64(walk, node, owner->object) + owner->placeholder == node) {
		list->outermost = node - owner->placeholder;
		list->behind = list->node;
	}
	if (list->outermost)
		list->node = runtime_waiting(list, owner);
	return code != 0;
}

/* Takes one frame of the list. Returns 0 to go on, or 1 at the end. */
GLOBAL int runtime_step(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct runtime_list *list = &walk->list;
	const struct runtime_config *config = &list->config;
	u64 node = list->node, code, instruction;
	u32 number = 0;
	int is_border, r = 0;

	if (list->words + 4 > RECORD_RUNTIME_WORDS_MAX)
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	if (walk_work(walk) >= walk->look_at && walk_late())
		return runtime_end(list, RUNTIME_CUT_BUDGET);
	if (!node)
		return runtime_list_end(list);
	if (runtime_read_node(walk, BOUND((u64)config->node_bytes, RUNTIME_NODE_BYTES + 1), node))
		return runtime_end(list, RUNTIME_CUT_READ);
	list->node = runtime_node_u64(walk, node, config->previous);
	code = runtime_node_u64(walk, node, config->code) & config->code_mask;
	instruction = runtime_node_u64(walk, node, config->instruction);
	if (config->flags & RUNTIME_INDEX)
		instruction = runtime_node_u32(walk, node, config->instruction);
	if (config->flags & RUNTIME_COPIES)
		number = runtime_node_u32(walk, node, config->copy);
	is_border = (runtime_node_u32(walk, node, config->border) & config->border_mask) ==
		    config->border_value;
	if (list->state) {
		u32 shown = runtime_node_u32(walk, node, config->shown) & config->shown_mask;

		if (shown != config->shown_value || node == list->end)
			code = 0;
		if (config->flags & RUNTIME_ARRAY)
			list->node = node == list->end ? 0 : node - config->node_bytes;
		return runtime_state_step(node, code, instruction, is_border,
					  runtime_node_u32(walk, node, config->names.tail));
	}
	if (config->flags & RUNTIME_OWNED && !runtime_is_function(walk, node, code))
		return 0;
	if (!is_border || config->flags & RUNTIME_BORDER_SHOW)
		r = runtime_next_frame(walk, code, instruction, number);
	if (r)
		return runtime_end(list, r);
	if (is_border && runtime_border(node))
		return runtime_end(list, RUNTIME_CUT_DEPTH);
	return 0;
}

/* Takes one frame, as the list has them. Returns 0 to go on, or 1 at the end. */
INLINE int runtime_any_step(const struct runtime_list *list)
{
	if (list->config.flags & RUNTIME_CONTROL)
		return control_step();
	if (list->config.flags & RUNTIME_SCOPES)
		return runtime_scope_step();
	return list->stacked ? runtime_stacked_step() : runtime_step();
}

/*
 * Takes some frames of the list. Returns 0 to go on, or 1 at the end. A list that leads back to
 * frames in the window needs no further read: its frames are work all the same.
 */
INLINE int runtime_steps(struct walk *walk)
{
	walk->list.reads++;
	NOT_UNROLLED
	for (u32 i = 0; i < RUNTIME_FRAMES_STEP; i++) {
		if (walk->list.has_heaps) {
			if (walk->list.config.flags & RUNTIME_INDEX ? v8_step() : hotspot_step())
				return 1;
		} else if (walk->list.asks)
			runtime_name_step();
		else if (runtime_any_step(&walk->list))
			return 1;
	}
	return 0;
}

/* ---- begin and end ---- */

/* Returns 0 when the walk of the stack comes behind the list that has ended. */
INLINE int runtime_leave_list(struct walk *walk)
{
	if (!walk->is_list_first)
		return 1;
	walk->before = walk->list.words;
	walk->deadline += walk->reserved;
	walk->reserved = 0;
	walk->window_bytes = 0;
	return 0;
}

/* Returns whether nothing ties the list to frames of the stack, so that it may come first. */
INLINE int runtime_may_be_first(const struct runtime_list *list)
{
	return !(list->config.flags &
		 (RUNTIME_ANCHOR_NODE | RUNTIME_ANCHOR_LIST | RUNTIME_HEAPS)) &&
	       list->config.root[0].start != RUNTIME_AT_SCAN;
}

/* Copies the config of the marked frames' mapping. Returns 0 when there is one. */
INLINE int runtime_take_config(struct walk *walk)
{
	return table_find_mapping(walk->marked) ||
	       runtime_copy_config(walk->mapping_runtime, walk->bias);
}

/* Returns how many bytes of code the walk reads: all fields that the config names. */
INLINE u32 runtime_code_bytes(const struct runtime_config *config)
{
	u32 last = config->name;

	NOT_UNROLLED
	for (u32 i = 0; i < RUNTIME_PARTS; i++)
		if (config->part[i] < RUNTIME_CODE_NAMES && config->part[i] > last)
			last = config->part[i];
	NOT_UNROLLED
	for (u32 i = 0; i < 4; i++)
		if (config->fingerprint[i] > last)
			last = config->fingerprint[i];
	if (config->flags & RUNTIME_CONTROL && config->control.table > last)
		last = config->control.table;
	return last + 8;
}

/*
 * Returns whether all fields lie in what the walk reads. Behind that, buffers have bytes of an
 * earlier walk, perhaps of a process without a grant.
 */
INLINE int runtime_is_within(struct runtime_list *list)
{
	const struct runtime_config *config = &list->config;
	u32 last = config->previous;

	if (config->flags & RUNTIME_SCOPES)
		last = runtime_scope_last(&config->scopes);
	if (config->code > last)
		last = config->code;
	if (config->instruction > last)
		last = config->instruction;
	if (config->border > last)
		last = config->border;
	if (config->shown > last)
		last = config->shown;
	if (config->names.tail > last && !(config->flags & RUNTIME_SCOPES))
		last = config->names.tail;
	if (config->flags & RUNTIME_COPIES && config->copy > last)
		last = config->copy;
	if (config->stack.continued > last)
		last = config->stack.continued;
	if (config->stack.callback > last)
		last = config->stack.callback;
	list->code_bytes = runtime_code_bytes(config);
	return (last & ~7u) + 8 <= config->node_bytes && config->node_bytes <= RUNTIME_NODE_BYTES &&
	       list->code_bytes <= sizeof(list->memory);
}

/* Begins the walk over the list. Returns 0 when there is a frame to take, with list->result. */
GLOBAL int runtime_begin(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct runtime_list *list = &walk->list;

	list->words = list->open = 0;
	list->anchor = 0;
	/* code, states and objects may be shorter than their fields: nothing of an earlier walk */
	__builtin_memset(list->memory, 0, sizeof(list->memory));
	walk->deadline += walk->reserved;
	walk->window_bytes = 0;
	runtime_forget(list);
	list->has_heaps = 0;
	if (runtime_take_config(walk))
		return runtime_end(list, RUNTIME_NONE_MET);
	if (list->config.flags & RUNTIME_HEAPS)
		list->has_heaps = 1;
	else if (!runtime_is_within(list))
		return runtime_end(list, RUNTIME_NONE_MET);
	list->result = RUNTIME_CUT_DEPTH; /* until another end */
	list->stored.code = RUNTIME_CODE_FREE;
	list->node = list->state = list->unnamed = list->name = list->named = 0;
	list->may_name = list->asks = list->stacked = 0;
	list->call = list->called_in = 0;
	list->generator = list->outermost = 0;
	list->on = 1;
	if (list->has_heaps && list->config.flags & RUNTIME_INDEX)
		return v8_begin(walk);
	if (list->has_heaps)
		return hotspot_begin(walk);
	if (list->config.root[0].start == RUNTIME_AT_SCAN)
		return runtime_begin_scan(walk);
	list->node = runtime_follow(0);
	if (!list->node)
		list->node = runtime_follow(1);
	if (!list->node)
		return runtime_end(list, RUNTIME_NO_ROOT);
	if (list->config.flags & RUNTIME_CONTROL)
		return control_begin();
	if (list->config.flags & RUNTIME_SCOPES)
		return runtime_begin_scopes(list->node);
	return 0;
}

#endif

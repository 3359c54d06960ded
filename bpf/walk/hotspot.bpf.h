/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames of code that Java's HotSpot makes, and of its interpreter (RUNTIME_HEAPS). The walk of the
 * stack finds a rule for each, and notes the function. Behind the walk, the functions are stored as
 * words, and new ones are told of. Each step there does a little, so that the verifier has no loop
 * to follow. Pure C. The includer supplies the environment that bpf/walk/runtime.bpf.h names, and:
 *   walk_tell_inlined(walk, code, fingerprint)  tells of the functions that are inlined at a place,
 *                                  whose frames the window has; returns whether it did
 */
#ifndef KEYHOLE_BPF_WALK_HOTSPOT_BPF_H
#define KEYHOLE_BPF_WALK_HOTSPOT_BPF_H

#include "bpf/walk/address.bpf.h"
#include "bpf/walk/late.bpf.h"
#include "bpf/walk/list.bpf.h"
#include "bpf/walk/memory.bpf.h"
#include "bpf/walk/table.bpf.h"
#include "bpf/walk/walk.bpf.h"

GLOBAL u64 walk_leaf_place(void); /* fallback.bpf.h */

/* Returns a u32 of the process, or 0. */
INLINE u32 hotspot_u32(struct walk *walk, u64 address)
{
	if (runtime_read_word(address & ~7ull))
		return 0;
	return walk->list.word >> (address & 4) * 8;
}

/* Returns a u16 of the process, or 0. */
INLINE u32 hotspot_u16(struct walk *walk, u64 address)
{
	return hotspot_u32(walk, address & ~3ull) >> (address & 2) * 8 & 0xffff;
}

/* Returns a pointer of the process, or 0. */
INLINE u64 hotspot_pointer(struct walk *walk, u64 address)
{
	return runtime_read_word(address) ? 0 : walk->list.word;
}

/* ---- heaps ---- */

GLOBAL int hotspot_read_heap(u32 number, u64 address)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	const struct runtime_hotspot *config = &walk->list.config.hotspot;
	struct hotspot_heap *heap = &walk->hotspot.heap[number & (HOTSPOT_HEAPS - 1)];

	heap->low = hotspot_pointer(walk, address + config->heap_low);
	heap->high = hotspot_pointer(walk, address + config->heap_high);
	heap->segments = hotspot_pointer(walk, address + config->heap_segments);
	heap->shift = hotspot_u32(walk, address + config->heap_shift);
	return 0;
}

INLINE void hotspot_read_heaps(struct walk *walk)
{
	const struct runtime_hotspot *config = &walk->list.config.hotspot;
	u64 heaps = hotspot_pointer(walk, config->heaps + walk->list.bias), data;
	u32 count;

	if (!config->heaps_data) {
		hotspot_read_heap(0, heaps);
		return;
	}
	count = hotspot_u32(walk, heaps + config->heaps_count);
	data = hotspot_pointer(walk, heaps + config->heaps_data);
	NOT_UNROLLED
	for (u32 i = 0; i < HOTSPOT_HEAPS && i < count; i++)
		hotspot_read_heap(i, hotspot_pointer(walk, data + i * 8ull));
}

/*
 * Reads where the code is, which stays there as long as the process lives. Returns whether there is
 * any: HotSpot makes it a little after its start.
 */
GLOBAL int hotspot_read_code(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct hotspot *hotspot = &walk->hotspot;
	const struct runtime_hotspot *config = &walk->list.config.hotspot;
	u64 queue;

	__builtin_memset(hotspot->heap, 0, sizeof(hotspot->heap));
	hotspot_read_heaps(walk);
	queue = hotspot_pointer(walk, config->interpreter + walk->list.bias);
	hotspot->code = hotspot_pointer(walk, queue + config->code_start);
	hotspot->code_bytes = hotspot_u32(walk, queue + config->code_bytes);
	hotspot->returns = hotspot_pointer(walk, config->returns + walk->list.bias);
	hotspot->named = 0;
	return hotspot->heap[0].low && hotspot->code && hotspot->returns;
}

/*
 * Returns whether all fields lie in what the walk reads. Behind that, buffers have bytes of an
 * earlier walk, perhaps of a process without a grant.
 */
INLINE int hotspot_is_within(const struct runtime_hotspot *config)
{
	u32 last = config->size;

	if (config->complete > last)
		last = config->complete;
	if (config->frame > last)
		last = config->frame;
	if (config->name > last)
		last = config->name;
	if (config->method > last)
		last = config->method;
	if (config->kind > last)
		last = config->kind;
	if (config->own > last)
		last = config->own;
	if (config->code.at > last)
		last = config->code.at;
	if ((last & ~7u) + 8 > config->head_bytes || config->head_bytes > RUNTIME_HEAD_BYTES)
		return 0;
	last = config->pool;
	if (config->code_size > last)
		last = config->code_size;
	if (config->constant_size > last)
		last = config->constant_size;
	if (config->name_index > last)
		last = config->name_index;
	if (config->signature_index > last)
		last = config->signature_index;
	return (last & ~7u) + 8 <= config->constant_bytes &&
	       config->constant_bytes <= RUNTIME_HEAD_BYTES;
}

/* Returns whether the runtime of the mapping that was found last is HotSpot, whose code is known. */
GLOBAL int hotspot_is_there(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct hotspot *hotspot = &walk->hotspot;
	u64 key = (walk->seed ^ walk->mapping_runtime) + walk->bias;

	if (hotspot->is_known)
		return hotspot->is_known == HOTSPOT_KNOWN;
	hotspot->is_known = HOTSPOT_NONE;
	if (walk_has_copy(walk) || !walk_may_list() ||
	    runtime_copy_config(walk->mapping_runtime, walk->bias) ||
	    !(walk->list.config.flags & RUNTIME_HEAPS) ||
	    !hotspot_is_within(&walk->list.config.hotspot))
		return 0;
	if (hotspot->key != key) {
		hotspot->key = 0;
		if (!hotspot_read_code())
			return 0;
		hotspot->key = key;
	}
	hotspot->blob = hotspot->size = 0;
	hotspot->is_known = HOTSPOT_KNOWN;
	walk->marked = walk->list.config.hotspot.inside + walk->list.bias;
	return 1;
}

/* ---- blobs ---- */

#define HOTSPOT_FREE 0xffu /* of a segment */
#define HOTSPOT_HOPS 24u   /* a large block has a step back for each 254 segments */

/* Returns the number of the heap that has an address, or HOTSPOT_HEAPS. */
INLINE u32 hotspot_heap_of(const struct hotspot *hotspot, u64 address)
{
	u32 number = HOTSPOT_HEAPS;

	NOT_UNROLLED
	for (u32 i = 0; i < HOTSPOT_HEAPS; i++)
		if (address - hotspot->heap[i].low < hotspot->heap[i].high - hotspot->heap[i].low)
			number = i;
	return number;
}

/* Returns the blob that has an address, or 0. */
GLOBAL u64 hotspot_find(u64 address)
{
	struct walk *walk = walk_state();
	u32 number = walk ? hotspot_heap_of(&walk->hotspot, address) : HOTSPOT_HEAPS;

	if (!walk || number >= HOTSPOT_HEAPS)
		return 0;
	const struct hotspot_heap *heap = &walk->hotspot.heap[number & (HOTSPOT_HEAPS - 1)];
	u64 segment = (address - heap->low) >> (heap->shift & 31), at, back;

	NOT_UNROLLED
	for (u32 i = 0; i < HOTSPOT_HOPS; i++) {
		at = heap->segments + segment;
		if (runtime_read_word(at & ~7ull))
			return 0;
		back = walk->list.word >> (at & 7) * 8 & 0xff;
		if (!back)
			return heap->low + (segment << (heap->shift & 31)) +
			       walk->list.config.hotspot.block_bytes;
		if (back == HOTSPOT_FREE || back > segment)
			return 0;
		segment -= back;
	}
	return 0;
}

/* Returns the address of a part of a blob, or 0. */
GLOBAL u64 hotspot_part(u64 blob, u32 at, u32 base)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	if (base == HOTSPOT_POINTER)
		return hotspot_pointer(walk, blob + at);
	if (base != HOTSPOT_OFFSET) {
		u64 piece = hotspot_pointer(walk, blob + base);

		return piece ? piece + hotspot_u32(walk, blob + at) : 0;
	}
	return blob + hotspot_u32(walk, blob + at);
}

#define NAME_COMPILED 0x00646f6874656d6eull /* "nmethod" */
#define NAME_NATIVE   0x6e2065766974616eull /* "native nmethod" */
#define NAME_STUBS    0x74756f5262757453ull /* "StubRoutines" */

/* Sets hotspot->kind, by the name of the blob where nothing else says it. */
INLINE void hotspot_set_kind(struct walk *walk)
{
	struct hotspot *hotspot = &walk->hotspot;
	const struct runtime_hotspot *config = &walk->list.config.hotspot;

	hotspot->name = runtime_u64(&walk->list, config->name);
	if (config->kind) {
		u32 kind = runtime_u32(&walk->list, config->kind) >> (config->kind & 3) * 8;

		hotspot->kind = HOTSPOT_OTHER;
		if ((kind & 0xff) == config->kind_compiled) {
			hotspot->kind = HOTSPOT_COMPILED;
			return;
		}
	}
	if (hotspot->named != hotspot->name) {
		u64 text = 0;

		hotspot->named = hotspot->name;
		hotspot->kind_named = HOTSPOT_OTHER;
		walk->list.reads++;
		if (walk_read(&walk->list.word, 8, hotspot->name))
			hotspot->named = 0;
		else
			text = walk->list.word;
		if (text == NAME_COMPILED || text == NAME_NATIVE)
			hotspot->kind_named = HOTSPOT_COMPILED;
		if (text == NAME_STUBS)
			hotspot->kind_named = HOTSPOT_STUBS;
	}
	hotspot->kind = hotspot->kind_named;
}

/* Reads the blob that has an address into walk->hotspot. Returns 0 when there is one. */
GLOBAL int hotspot_take_blob(u64 address)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct hotspot *hotspot = &walk->hotspot;
	struct runtime_list *list = &walk->list;
	const struct runtime_hotspot *config = &list->config.hotspot;
	u64 blob;

	if (address - hotspot->blob < hotspot->size)
		return 0;
	blob = hotspot_find(address);
	hotspot->size = 0;
	if (!blob || runtime_read(config->head_bytes, blob))
		return 1;
	hotspot->blob = blob;
	hotspot->size = runtime_u32(list, config->size);
	hotspot->frame = runtime_u32(list, config->frame);
	hotspot->complete = runtime_u32(list, config->complete) >> (config->complete & 2) * 8;
	if (config->complete_bytes == 2)
		hotspot->complete &= 0xffff;
	hotspot->method = runtime_u64(list, config->method);
	hotspot_set_kind(walk);
	hotspot->own = runtime_u64(list, config->own);
	hotspot->begin = runtime_u64(list, config->code.at);
	if (config->code.base == HOTSPOT_OFFSET)
		hotspot->begin = blob + runtime_u32(list, config->code.at);
	return address - blob >= hotspot->size;
}

/* ---- leaving frames ---- */

#define HOTSPOT_FRAME_MAX (1u << 19) /* words */
#define HOTSPOT_NOBODY	  0u	     /* noted of a frame that nobody wants to see */
#define RULE_RETURNS	  RULE_MAKE(RULE_SP, 0, 0, 8, 0)
#define RULE_PUSHED	  RULE_MAKE(RULE_SP, 0, 1, 16, 0)
#define RULE_INTERPRETED  RULE_MAKE(RULE_BP, 0, 1, 16, 0)
/* stubGenerator_x86_64.cpp, generate_call_stub(): rbp rbx r12 r13 r14 r15 */
#define RULE_ACTIVATION RULE_MAKE(RULE_BP, 0, 0xcba981, 16, 0)

/* Returns whether 8 bytes of code end with sub $n, %rsp. */
INLINE int code_made_room(u64 before)
{
	return (before >> 32 & 0xffffff) == 0xec8348 || (before >> 8 & 0xffffff) == 0xec8148;
}

/* Returns whether 8 bytes of code end with add $n, %rsp, and are before pop %rbp. */
INLINE int code_gave_room(u64 before, u64 code)
{
	return (code & 0xff) == 0x5d &&
	       ((before >> 32 & 0xffffff) == 0xc48348 || (before >> 8 & 0xffffff) == 0xc48148);
}

/* Returns whether code begins with a move of %rbp to the stack: mov %rbp, n(%rsp). */
INLINE int code_saves_frame(u64 code)
{
	return (code & 0xffffffff) == 0x24ac8948 || (code & 0xffffffff) == 0x246c8948;
}

/*
 * Returns the rule of compiled code at a pc, which may be where the frame is not there yet, or not
 * any more. whole: the rule of the whole frame.
 */
GLOBAL u64 hotspot_leaf_rule(u64 whole)
{
	struct walk *walk = walk_state();

	if (!walk)
		return whole;
	const struct hotspot *hotspot = &walk->hotspot;
	u64 place = walk_leaf_place(), before;

	if (place == 0)
		return RULE_RETURNS;
	if (walk_read_code(walk->address - 8))
		return whole;
	before = walk->code;
	if (walk_read_code(walk->address))
		return whole;
	if (code_gave_room(before, walk->code))
		return RULE_PUSHED;
	if (walk->address - hotspot->begin >= hotspot->complete || code_made_room(before))
		return whole & ~((u64)(code_saves_frame(walk->code) ? 0xf : 0) << 8);
	return before >> 56 == 0x55 ? RULE_PUSHED : RULE_RETURNS;
}

#define STUB_FRAME_BYTES 8192u /* of code by hand, which keeps a frame pointer or has no frame */

enum hotspot_call {
	HOTSPOT_CALL_NONE,
	HOTSPOT_CALL_ELSEWHERE,
	HOTSPOT_CALL_ANYWHERE,
	HOTSPOT_CALL_HERE /* into the blob that was met last */
};

/* Returns enum hotspot_call of the call before the return address at a place of the stack. */
GLOBAL int hotspot_call_before(u64 at)
{
	struct walk *walk = walk_state();

	if (!walk || at & 7 || walk_read_word(at))
		return HOTSPOT_CALL_NONE;
	u64 address = walk->word, target;

	/* the interpreter pushes return addresses and jumps */
	if (address - walk->hotspot.code < walk->hotspot.code_bytes)
		return HOTSPOT_CALL_ANYWHERE;
	if (!walk_after_call(walk, address))
		return HOTSPOT_CALL_NONE;
	if (!code_calls_directly(walk->code))
		return HOTSPOT_CALL_ANYWHERE;
	target = address + (s64)(s32)(walk->code >> 32);
	if (target - walk->hotspot.blob < walk->hotspot.size)
		return HOTSPOT_CALL_HERE;
	return HOTSPOT_CALL_ELSEWHERE;
}

#define STUB_PUSHES 8u /* words that such code may have pushed without a frame pointer */

/*
 * Finds the rule of a leaf in code by hand that has no frame yet. The call before the return address
 * leads to this code. Returns enum hotspot_call.
 */
INLINE int hotspot_pushed_rule(struct walk *walk)
{
	u64 sp = walk->reg[REG_RSP];
	int call = hotspot_call_before(sp);

	walk->rule = RULE_RETURNS;
	if (call == HOTSPOT_CALL_HERE)
		return call;
	NOT_UNROLLED
	for (u32 i = 1; i < STUB_PUSHES; i++) {
		if (hotspot_call_before(sp + i * 8ull) != HOTSPOT_CALL_HERE)
			continue;
		walk->rule = RULE_MAKE(RULE_SP, 0, 0, i * 8 + 8, 0);
		return HOTSPOT_CALL_HERE;
	}
	return call;
}

#define ENTRY_WORDS 16u /* of the frame that enters a virtual thread, at most */

/*
 * Finds the rule of a frame that lies right behind the stack pointer, with other words than return
 * addresses before its own. Such is the frame that enters a virtual thread. Returns whether there is
 * a rule.
 */
GLOBAL int hotspot_entry_rule(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	NOT_UNROLLED
	for (u32 i = 0; i < ENTRY_WORDS; i++) {
		if (!hotspot_call_before(walk->reg[REG_RSP] + i * 8ull))
			continue;
		walk->rule = RULE_RETURNS;
		if (i)
			walk->rule = RULE_MAKE(RULE_SP, 0, 1, i * 8 + 8, 0);
		return 1;
	}
	return 0;
}

/*
 * Returns whether the walk is at a barrier, whose address no call has left on the stack. Functions of
 * a virtual thread may lie in the heap. The outermost one on the stack then returns to the barrier,
 * which brings further ones.
 */
INLINE int hotspot_is_barrier(struct walk *walk)
{
	return walk->hotspot.kind == HOTSPOT_STUBS && !walk->exact &&
	       !walk_read_code(walk->address - 8) && !walk_is_call(walk->code);
}

/*
 * Finds the rule of a frame of code by hand. walk->rule is that of a whole frame of the blob, or
 * RULE_RETURNS where no size of frames is known. Returns whether there is a rule.
 */
GLOBAL int hotspot_stub_rule(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	u64 sp = walk->reg[REG_RSP], bp = walk->reg[REG_RBP], whole = walk->rule;
	int by_pointer = HOTSPOT_CALL_NONE, by_stack = HOTSPOT_CALL_NONE;

	if (whole != RULE_RETURNS &&
	    (!walk->exact ||
	     hotspot_call_before(sp + rule_offset(whole) - 8) > HOTSPOT_CALL_ELSEWHERE))
		return 1;
	/* entries of functions, and tables of these, have no frame */
	if (whole == RULE_RETURNS && walk->hotspot.kind == HOTSPOT_OTHER)
		return walk->exact;
	walk->rule = RULE_RETURNS;
	if (walk->exact && walk_leaf_place() == 0)
		return 1;
	if (bp - sp < STUB_FRAME_BYTES)
		by_pointer = hotspot_call_before(bp + 8);
	if (walk->exact && by_pointer != HOTSPOT_CALL_HERE)
		by_stack = hotspot_pushed_rule(walk);
	if (by_stack > by_pointer)
		return 1;
	walk->rule = RULE_INTERPRETED;
	return by_pointer > HOTSPOT_CALL_ELSEWHERE;
}

/* Notes the function of the last frame. */
INLINE void hotspot_note(struct walk *walk, u64 code, u64 place)
{
	u64 at = BOUND((u64)walk->marks, RECORD_FRAMES_MAX), frame = walk->frames - 1;

	walk->mark[at] = (code & MARK_ADDRESS) | frame << MARK_FRAME_SHIFT;
	walk->hotspot.place[at] = place;
	walk->marks = at + 1;
}

INLINE u32 hotspot_fingerprint(const struct hotspot *hotspot)
{
	u64 mixed = (hotspot->method ^ hotspot->begin) * 0x9e3779b97f4a7c15ull;

	mixed = (mixed ^ hotspot->own ^ mixed >> 29) * 0x9e3779b97f4a7c15ull;
	mixed = (mixed ^ hotspot->size ^ mixed >> 29) * 0x9e3779b97f4a7c15ull;
	return mixed >> 32;
}

/*
 * Finds the blob of a frame, notes its function, and sets walk->rule to that of a whole frame.
 * Returns whether there is a blob.
 */
GLOBAL int hotspot_blob_rule(u64 inside)
{
	struct walk *walk = walk_state();

	if (!walk || hotspot_take_blob(inside))
		return 0;
	const struct hotspot *hotspot = &walk->hotspot;
	u64 kind = HOTSPOT_PLACE_OTHER, code = hotspot->blob;

	if (hotspot->kind == HOTSPOT_COMPILED) {
		kind = 0;
		code = walk->address;
	}
	hotspot_note(walk, code,
		     kind | (walk->address - hotspot->blob) << 32 | hotspot_fingerprint(hotspot));
	walk->rule = RULE_RETURNS;
	if (hotspot->frame - 2 < HOTSPOT_FRAME_MAX)
		walk->rule = RULE_MAKE(RULE_SP, 0, 1, hotspot->frame * 8, 0);
	return 1;
}

/* Finds the rule of a frame in code that HotSpot made. Returns whether there is one. */
GLOBAL int hotspot_rule(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct hotspot *hotspot = &walk->hotspot;
	u64 inside = walk->address - !walk->exact;

	hotspot->is_interpreted = 0;
	if (table_find_mapping(inside) || !walk->mapping_runtime || !hotspot_is_there())
		return 0;
	if (inside - hotspot->code < hotspot->code_bytes) {
		hotspot->is_interpreted = 1;
		walk->rule = RULE_INTERPRETED;
		return 1;
	}
	if (walk->address == hotspot->returns) {
		hotspot_note(walk, HOTSPOT_NOBODY, 0);
		walk->rule = RULE_ACTIVATION;
		return 1;
	}
	if (!hotspot_blob_rule(inside))
		return 0;
	if (hotspot_is_barrier(walk)) {
		walk->mark[BOUND((u64)walk->marks - 1, RECORD_FRAMES_MAX)] =
			RUNTIME_CODE_ELSEWHERE | (u64)(walk->frames - 1) << MARK_FRAME_SHIFT;
		return hotspot_entry_rule();
	}
	if (hotspot->kind != HOTSPOT_COMPILED)
		return hotspot_stub_rule() || (!walk->exact && hotspot_entry_rule());
	if (walk->exact)
		walk->rule = hotspot_leaf_rule(walk->rule);
	return 1;
}

/*
 * Takes the function of a frame of the interpreter, which the walk has just left, and whose frame
 * pointer was bp. The caller's stack pointer is in the frame, and the window has all of it.
 */
GLOBAL int hotspot_leave_interpreted(u64 bp)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	const struct runtime_hotspot *config = &walk->list.config.hotspot;
	u64 failed = 0, sp = walk->reg[REG_RSP];
	u64 method = walk_word(walk, bp - HOTSPOT_FUNCTION, &failed);
	u64 place = walk_word(walk, bp - config->bytecode_below, &failed);
	u64 sender = walk_word(walk, bp - HOTSPOT_SENDER, &failed);

	if (HIDE(walk, failed))
		return 0;
	if (runtime_is_address(method))
		hotspot_note(walk, method, HOTSPOT_PLACE_INTERPRETED | (place & MARK_ADDRESS));
	if (!(sender & 7) && sender - sp < WALK_REACH)
		walk->reg[REG_RSP] = sender;
	return 0;
}

/* ---- functions ---- */

#define HOTSPOT_EVENT_WORDS (RUNTIME_PARTS + 1)

/* Returns the address of a text in a pool of constants, or 0. */
INLINE u64 hotspot_constant(struct walk *walk, u64 pool, u32 number)
{
	u32 bytes = walk->list.config.hotspot.pool_bytes;

	return number ? hotspot_pointer(walk, pool + bytes + number * 8ull) : 0;
}

/* Returns a u16 in the memory that was read. */
INLINE u32 hotspot_memory_u16(const struct runtime_list *list, u32 at)
{
	return runtime_u32(list, at & ~3u) >> (at & 2) * 8 & 0xffff;
}

/*
 * Tells of the function that was found last, whose constant part is in list->memory. Puts the
 * addresses of the event's parts there in its place.
 */
GLOBAL int hotspot_tell(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct runtime_list *list = &walk->list;
	struct hotspot *hotspot = &walk->hotspot;
	const struct runtime_hotspot *config = &list->config.hotspot;
	const struct hotspot_function *taken = &hotspot->taken;
	u64 pool = runtime_u64(list, config->pool);
	u64 class = hotspot_pointer(walk, pool + config->pool_class);
	u32 name = hotspot_memory_u16(list, config->name_index);
	u32 signature = hotspot_memory_u16(list, config->signature_index);
	u32 size = runtime_u32(list, config->constant_size);
	u32 file = hotspot_u16(walk, (config->file_in_class ? class : pool) + config->file_index);

	hotspot->is_untold = 0;
	hotspot->is_missing = 1;
	list->memory[0] = hotspot_pointer(walk, class + config->class_name);
	list->memory[1] = hotspot_constant(walk, pool, name);
	list->memory[2] = hotspot_constant(walk, pool, signature);
	list->memory[3] = taken->instructions - config->constant_bytes;
	list->memory[4] = size;
	list->name = hotspot_constant(walk, pool, file);
	list->call = 1; /* no caller has a name for it */
	if (!list->told)
		return 0;
	walk_tell(walk, taken->method, taken->fingerprint);
	if (!walk_told(walk, taken->method, taken->fingerprint))
		return 0;
	hotspot->function[taken->method >> 5 & (HOTSPOT_FUNCTIONS - 1)].is_told = 1;
	hotspot->is_missing = hotspot->was_missing;
	return 0;
}

/*
 * Finds the fingerprint and the instructions of a function: hotspot->taken. The next step tells of
 * one that is new. Returns 0 when its memory could be read.
 */
GLOBAL int hotspot_function(u64 method)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct runtime_list *list = &walk->list;
	const struct runtime_hotspot *config = &list->config.hotspot;
	struct hotspot_function *known =
		&walk->hotspot.function[method >> 5 & (HOTSPOT_FUNCTIONS - 1)];
	u64 constant, mixed;

	if (known->method == method) {
		walk->hotspot.taken = *known;
		return 0;
	}
	constant = hotspot_pointer(walk, method + config->constant);
	if (!constant || runtime_read(config->constant_bytes, constant))
		return 1;
	known->method = method;
	known->instructions = constant + config->constant_bytes;
	known->size = hotspot_memory_u16(list, config->code_size);
	mixed = (constant ^ runtime_u64(list, config->pool)) * 0x9e3779b97f4a7c15ull;
	mixed ^= runtime_u64(list, config->name_index) ^ mixed >> 29;
	known->fingerprint = mixed * 0x9e3779b97f4a7c15ull >> 32;
	known->is_told = walk_told(walk, method, known->fingerprint);
	walk->hotspot.is_untold = !known->is_told;
	walk->hotspot.taken = *known;
	return 0;
}

/* ---- functions that are inlined at a place ---- */

/* Reads the next number of those that describe a place (utilities/unsigned5.hpp). */
GLOBAL u32 hotspot_number(void)
{
	struct walk *walk = walk_state();
	u32 sum = 0;

	if (!walk)
		return 0;
	struct hotspot *hotspot = &walk->hotspot;

	NOT_UNROLLED
	for (u32 i = 0; i < 5; i++) {
		u32 at = hotspot->at++;
		u32 byte =
			hotspot->bytes[at >> 3 & (HOTSPOT_SCOPE_WORDS - 1)] >> (at & 7) * 8 & 0xff;

		sum += (byte - walk->list.config.hotspot.excluded) << 6 * i;
		if (byte < 192)
			break;
	}
	return sum;
}

/* Begins to look for the functions at a place in compiled code. */
GLOBAL int hotspot_begin_place(u64 blob)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct hotspot *hotspot = &walk->hotspot;
	const struct runtime_hotspot *config = &walk->list.config.hotspot;
	u64 end;

	hotspot->inlined = hotspot->is_missing = hotspot->scope = hotspot->before = 0;
	hotspot->found = hotspot->found_before = 0;
	/* an event has no bytes of an earlier walk */
	__builtin_memset(walk->window, 0, HOTSPOT_INLINED_MAX * 16);
	if (hotspot_take_blob(blob))
		return 0;
	hotspot->scopes = hotspot_part(blob, config->scopes.at, config->scopes.base);
	hotspot->functions = hotspot_part(blob, config->functions.at, config->functions.base);
	hotspot->places = hotspot_part(blob, config->places.at, config->places.base);
	end = hotspot_part(blob, config->places_end.at, config->places_end.base);
	hotspot->offset = hotspot->pc - hotspot->begin;
	hotspot->low = 0;
	hotspot->high = 0;
	if (end - hotspot->places < HOTSPOT_PLACES_MAX * HOTSPOT_PLACE_BYTES)
		hotspot->high = (end - hotspot->places) / HOTSPOT_PLACE_BYTES;
	hotspot->does = HOTSPOT_SEARCH;
	return 0;
}

/*
 * Notes an inlined function in the window. Returns 0, or 1: its memory could not be read. The
 * function has no instruction: RUNTIME_OFFSET_NONE.
 */
GLOBAL int hotspot_note_inlined(u64 method, u32 instruction)
{
	struct walk *walk = walk_state();

	if (!walk || hotspot_function(method))
		return 1;
	struct hotspot *hotspot = &walk->hotspot;
	u64 at = BOUND((u64)hotspot->inlined, HOTSPOT_INLINED_MAX) * 2;

	walk->window[at] = method;
	walk->window[at + 1] = hotspot->taken.fingerprint | (u64)instruction << 32;
	hotspot->inlined++;
	hotspot->was_missing = hotspot->is_missing;
	if (!hotspot->taken.is_told)
		hotspot->is_missing = 1;
	return 0;
}

/* Goes on with the place that was found, or with none: native code has no places. */
INLINE void hotspot_end_search(struct hotspot *hotspot)
{
	if (!hotspot->scope) {
		hotspot->scope = hotspot->before;
		hotspot->found = hotspot->found_before;
	}
	if (hotspot->is_leaf) {
		hotspot->does = HOTSPOT_LEAF;
		return;
	}
	hotspot->does = HOTSPOT_SCOPE;
	if (hotspot->scope)
		return;
	hotspot->does = HOTSPOT_SEND;
	hotspot_note_inlined(hotspot->method, RUNTIME_OFFSET_NONE);
}

/*
 * Looks at the place in the middle of those that are left. What counts is the first one at or behind
 * the pc, or the last one of all.
 */
INLINE void hotspot_search(struct walk *walk)
{
	struct hotspot *hotspot = &walk->hotspot;
	u32 middle = hotspot->low + ((hotspot->high - hotspot->low) >> 1), scope, offset;

	if (hotspot->low >= hotspot->high) {
		hotspot_end_search(hotspot);
		return;
	}
	if (runtime_read_word(hotspot->places + middle * (u64)HOTSPOT_PLACE_BYTES)) {
		hotspot->high = 0;
		return;
	}
	offset = walk->list.word;
	scope = walk->list.word >> 32;
	if (offset < hotspot->offset || offset >> 31) {
		hotspot->low = middle + 1;
		hotspot->before = scope;
		hotspot->found_before = offset;
	} else {
		hotspot->high = middle;
		hotspot->scope = scope;
		hotspot->found = offset;
	}
}

/* Takes a function at the place, and goes on with the function around it. */
GLOBAL int hotspot_take_scope(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct hotspot *hotspot = &walk->hotspot;
	u64 at = hotspot->scopes + hotspot->scope, method = 0;
	u32 function, instruction;

	hotspot->does = HOTSPOT_NEXT;
	walk->list.reads++;
	if (walk_read(hotspot->bytes, sizeof(hotspot->bytes), at))
		return 0;
	hotspot->at = 0;
	hotspot->scope = hotspot_number();
	function = hotspot_number();
	instruction = hotspot_number() - 1;
	if (instruction > 0xffff)
		instruction = RUNTIME_OFFSET_NONE;
	if (function)
		method = hotspot_pointer(walk, hotspot->functions + (function - 1) * 8ull);
	if (!method || hotspot_note_inlined(method, instruction))
		return 0;
	hotspot->does = HOTSPOT_SCOPE;
	if (!hotspot->scope || hotspot->inlined == HOTSPOT_INLINED_MAX)
		hotspot->does = HOTSPOT_SEND;
	return 0;
}

/* ---- words ---- */

/* Stores the words of a frame, and a border that ties it to its frame on the stack. */
INLINE int hotspot_store(struct walk *walk, u64 code, u64 second, u64 frame)
{
	struct runtime_list *list = &walk->list;

	if (code != HOTSPOT_NOBODY) {
		if (walk_store(walk, list->words, RUNTIME_WORD_FRAME | code, second))
			return 1;
		list->words += 2;
	}
	return walk_store(walk, list->words++, RUNTIME_WORD_BORDER | frame, 0);
}

/* Returns the offset of the instruction, as a frame of the interpreter says or a register. */
INLINE u64 hotspot_instruction(struct walk *walk, u64 place, u64 frame)
{
	const struct hotspot_function *taken = &walk->hotspot.taken;
	u64 leaf = walk->hotspot.leaf - taken->instructions;

	if (!frame && leaf < taken->size)
		return leaf;
	place -= taken->instructions;
	return place < taken->size ? place : RUNTIME_OFFSET_NONE;
}

/* Stores the next function that the walk has noted. Returns 0 to go on, or 1 at the end. */
GLOBAL int hotspot_take_mark(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct hotspot *hotspot = &walk->hotspot;
	u64 number = BOUND((u64)hotspot->next, RECORD_FRAMES_MAX);
	u64 code = walk->mark[number] & MARK_ADDRESS, place = hotspot->place[number];
	u64 frame = walk->mark[number] >> MARK_FRAME_SHIFT, second = (u32)place;

	if (hotspot->next >= walk->marks)
		return runtime_end(&walk->list, RUNTIME_WHOLE);
	hotspot->next++;
	if (place & HOTSPOT_PLACE_INTERPRETED) {
		if (hotspot_function(code))
			return 0;
		second = hotspot->taken.fingerprint |
			 hotspot_instruction(walk, place & MARK_ADDRESS, frame) << 32;
	} else if (place & HOTSPOT_PLACE_OTHER) {
		hotspot->pc = hotspot->told_blob = code;
		hotspot->fingerprint = second;
		if (!walk_told(walk, code, second))
			hotspot->does = HOTSPOT_NAME;
	} else if (code > RUNTIME_CODE_ELSEWHERE) {
		hotspot->pc = code;
		hotspot->fingerprint = second;
		hotspot->told_blob = code - (place >> 32);
		hotspot->is_leaf = !frame;
		if (hotspot->is_leaf || !walk_told(walk, code, second))
			hotspot->does = HOTSPOT_PLACE;
		if (hotspot->is_leaf)
			return 0;
	}
	if (hotspot_store(walk, code, second, frame))
		return runtime_end(&walk->list, RUNTIME_CUT_DEPTH);
	return 0;
}

/*
 * Stores the function at the leaf's pc. Many pcs have one place, whose own pc stands for them. Returns 0
 * to go on, or 1 at the end.
 */
GLOBAL int hotspot_take_leaf(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct hotspot *hotspot = &walk->hotspot;

	hotspot->pc = hotspot->begin + hotspot->found;
	hotspot->is_leaf = 0;
	hotspot->does = hotspot->scope ? HOTSPOT_SCOPE : HOTSPOT_SEARCH;
	if (walk_told(walk, hotspot->pc, hotspot->fingerprint))
		hotspot->does = HOTSPOT_NEXT;
	if (hotspot_store(walk, hotspot->pc & MARK_ADDRESS, hotspot->fingerprint, 0))
		return runtime_end(&walk->list, RUNTIME_CUT_DEPTH);
	return 0;
}

/* Tells of code that belongs to no function. */
GLOBAL int hotspot_tell_name(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 0;
	struct runtime_list *list = &walk->list;

	if (hotspot_take_blob(walk->hotspot.told_blob))
		return 0;
	__builtin_memset(list->memory, 0, HOTSPOT_EVENT_WORDS * 8);
	list->name = walk->hotspot.name;
	list->call = 1;
	walk_tell(walk, walk->hotspot.pc, walk->hotspot.fingerprint);
	return 0;
}

/* Does the next step for the functions of frames. Returns 0 to go on, or 1 at the end. */
GLOBAL int hotspot_step(void)
{
	struct walk *walk = walk_state();

	if (!walk)
		return 1;
	struct hotspot *hotspot = &walk->hotspot;
	u32 does = hotspot->does;

	if (walk->list.words + 4 > RECORD_RUNTIME_WORDS_MAX)
		return runtime_end(&walk->list, RUNTIME_CUT_DEPTH);
	if (walk_work(walk) >= walk->look_at && walk_late())
		return runtime_end(&walk->list, RUNTIME_CUT_BUDGET);
	if (hotspot->is_untold)
		return hotspot_tell();
	if (does == HOTSPOT_NEXT)
		return hotspot_take_mark();
	if (does == HOTSPOT_SEARCH) {
		hotspot_search(walk);
		return 0;
	}
	if (does == HOTSPOT_SCOPE)
		return hotspot_take_scope();
	if (does == HOTSPOT_LEAF)
		return hotspot_take_leaf();
	hotspot->does = HOTSPOT_NEXT;
	if (does == HOTSPOT_PLACE)
		return hotspot_begin_place(hotspot->told_blob);
	if (does == HOTSPOT_NAME)
		return hotspot_tell_name();
	if (hotspot->inlined && !hotspot->is_missing)
		walk_tell_inlined(walk, hotspot->pc, hotspot->fingerprint);
	return 0;
}

/* Begins to store the functions that the walk has noted. The config is HotSpot's. */
INLINE int hotspot_begin(struct walk *walk)
{
	struct hotspot *hotspot = &walk->hotspot;

	if (hotspot->is_known != HOTSPOT_KNOWN)
		return runtime_end(&walk->list, RUNTIME_NONE_MET);
	hotspot->next = hotspot->is_untold = 0;
	hotspot->does = HOTSPOT_NEXT;
	walk_leaf(walk);
	hotspot->leaf = walk->window[HOTSPOT_LEAF_PLACE];
	NOT_UNROLLED
	for (u32 i = 0; i < HOTSPOT_FUNCTIONS; i++)
		hotspot->function[i].method = 1; /* no address */
	return 0;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up process with V8: objects, code and frames. Events that the walk sends are kept. */
#ifndef KEYHOLE_TESTS_BPF_V8_HEAP_H
#define KEYHOLE_TESTS_BPF_V8_HEAP_H

#include "tests/bpf/scene.h"

/* Code that V8 has made: pieces of 256 bytes, each with a call through a register. */
#define CODE	    0x7f0000000000ull
#define PIECES	    16u
#define BEGIN(n)    (CODE + (n)*256ull)
#define CALLED(n)   (BEGIN(n) + 0x60)
#define CODE_BYTES_ (PIECES * 256u)

/* Objects. Their addresses are those of their first words; pointers to them have a tag. */
#define DATA	       0x600000000000ull
#define DATA_WORDS     8192u
#define MAP(kind)      (DATA + (kind)*32ull)
#define CALLABLE(n)    (DATA + 0x1000 + (n)*64ull)
#define SHARED(n)      (DATA + 0x2000 + (n)*128ull)
#define SCRIPT(n)      (DATA + 0x3000 + (n)*128ull)
#define BYTECODE(n)    (DATA + 0x4000 + (n)*128ull)
#define POSITIONS(n)   (DATA + 0x5000 + (n)*128ull)
#define MACHINE(n)     (DATA + 0x6000 + (n)*128ull)
#define SCOPE(n)       (DATA + 0x7000 + (n)*1024ull)
#define TEXT(n)	       (DATA + 0xa000 + (n)*128ull)
#define NOT_THERE      0x610000000000ull
#define TAGGED(object) ((object) | V8_TAG)
#define SMALL(number)  ((u64)(u32)(number) << 32)

/* The text of script 0. */
#define SOURCE	     0x620000000000ull
#define SOURCE_BYTES (10u * V8_CHUNK)

enum kind {
	FUNCTION_MAP = 1,
	SHARED_MAP,
	SCRIPT_MAP,
	BYTECODE_MAP,
	SCOPE_MAP,
	CODE_MAP,
	ARRAY_MAP,
	ONE_BYTE,
	TWO_BYTES,
	JOINED,
	OUTSIDE,
	OUTSIDE_WIDE,
	UNCACHED,
	SLICE,
	THIN,
	NO_FORM, /* a text of no form that V8 has */
	OTHER,
	KINDS
};

#define SHARED_BYTES	  56u
#define BYTECODE_DATA	  54u
#define SHARED_COUNTS	  40u
#define SHARED_NUMBER	  48u
#define FUNCTIONS	  8u /* of which the odd ones have a scope */
#define SCRIPTS		  2u
#define PLACE(word)	  ((word) >> 32)
#define FINGERPRINT(word) ((u32)(word))

struct told_event {
	u64 code, part[5], script, named;
	u32 print, start, script_print;
};
struct told_part {
	u64 code;
	u32 print;
	u64 bits[V8_CHUNK / 64];
};
#define EVENTS 64u

struct heap {
	u64 data[DATA_WORDS];
	u8 code[CODE_BYTES_];
	u8 source[SOURCE_BYTES + 64];
	struct runtime_config config;
	struct told_event event[EVENTS];
	struct told_part part[EVENTS];
	u32 events, parts, parts_refused;
};
static struct heap heap;

static HOST_UNUSED void put(u64 address, u64 value)
{
	assert(!(address & 7) && address - DATA < sizeof(heap.data));
	heap.data[(address - DATA) / 8] = value;
}

static HOST_UNUSED void put_object(u64 address, enum kind kind)
{
	put(address, TAGGED(MAP(kind)));
}

/* ---- what the walk tells of ---- */

static void on_tell(u64 code)
{
	struct told_event *event = &heap.event[heap.events++];

	assert(heap.events < EVENTS);
	*event = (struct told_event){
		.code = code,
		.script = host.walk.list.name,
		.named = host.walk.list.named,
		.print = host.told_print,
		.start = host.walk.list.call,
		.script_print = host.walk.list.called_in,
	};
	memcpy(event->part, host.walk.list.memory, sizeof(event->part));
}

static int on_tell_inlined(u64 code, u32 print)
{
	struct told_part *part = &heap.part[heap.parts];

	if (heap.parts_refused) {
		heap.parts_refused--;
		return 0;
	}
	assert(heap.parts + 1 < EVENTS);
	heap.parts++;
	part->code = code;
	part->print = print;
	memcpy(part->bits, host.walk.window, sizeof(part->bits));
	return 1;
}

static int is_known(u64 code, u32 print)
{
	for (u32 i = 0; i < heap.events; i++)
		if (heap.event[i].code == code && heap.event[i].print == print)
			return 1;
	for (u32 i = 0; i < heap.parts; i++)
		if (heap.part[i].code == code && heap.part[i].print == print)
			return 1;
	return 0;
}

/* ---- objects ---- */

static HOST_UNUSED void put_text(u64 address, const char *text)
{
	const size_t length = strlen(text);

	put_object(address, ONE_BYTE);
	put(address + 8, SMALL(length));
	assert(address - DATA + 16 + length <= sizeof(heap.data));
	memcpy((u8 *)heap.data + (address - DATA) + 16, text, length);
}

/* A text of two parts, or of one where the second is empty. */
static HOST_UNUSED void put_joined(u64 address, u64 first, u64 second, u32 length)
{
	put_object(address, JOINED);
	put(address + 8, SMALL(length));
	put(address + 16, TAGGED(first));
	put(address + 24, TAGGED(second));
}

static HOST_UNUSED void put_slice(u64 address, u64 parent, u32 from, u32 length)
{
	put_object(address, SLICE);
	put(address + 8, SMALL(length));
	put(address + 16, TAGGED(parent));
	put(address + 24, SMALL(from));
}

/* Scope number n: its flags, so many names with a word about each, and the words behind them. */
static HOST_UNUSED void put_scope(u32 n, u32 flags, u32 names, const u64 *words, u32 count)
{
	u64 at = SCOPE(n) + 32;

	put_object(SCOPE(n), SCOPE_MAP);
	put(SCOPE(n) + 8, SMALL(flags));
	put(SCOPE(n) + 24, SMALL(names));
	at += (names + (names < heap.config.v8.scope_names ? names : 1)) * 8ull;
	for (u32 i = 0; i < count; i++)
		put(at + i * 8ull, words[i]);
}

static HOST_UNUSED void put_function(u32 n)
{
	put_object(CALLABLE(n), FUNCTION_MAP);
	put(CALLABLE(n) + 24, TAGGED(SHARED(n)));
	put_object(SHARED(n), SHARED_MAP);
	put(SHARED(n) + 8, TAGGED(BYTECODE(n)));
	put(SHARED(n) + 16, TAGGED(TEXT(n)));
	put(SHARED(n) + 32, TAGGED(SCRIPT(0)));
	put(SHARED(n) + SHARED_COUNTS, (u64)n << 16);
	put(SHARED(n) + SHARED_NUMBER, SMALL(n));
	put_object(BYTECODE(n), BYTECODE_MAP);
	put(BYTECODE(n) + 32, TAGGED(POSITIONS(n)));
	put_object(POSITIONS(n), ARRAY_MAP);
	put(POSITIONS(n) + 8, SMALL(10 + n));
	put_object(MACHINE(n), CODE_MAP);
	put(MACHINE(n) + 16, TAGGED(BYTECODE(n)));
	put_text(TEXT(n), (const char[]){'f', (char)('0' + n), 0});
}

static HOST_UNUSED void put_script(u32 n, u64 source)
{
	put_object(SCRIPT(n), SCRIPT_MAP);
	put(SCRIPT(n) + 8, TAGGED(source));
	put(SCRIPT(n) + 16, TAGGED(TEXT(FUNCTIONS + n)));
	put(SCRIPT(n) + 64, SMALL(40 + n));
	put_text(TEXT(FUNCTIONS + n), (const char[]){'a', (char)('0' + n), '.', 'j', 's', 0});
}

/* The text of script 0 is outside of the heap. */
#define SOURCE_TEXT TEXT(20)
static HOST_UNUSED void put_source(enum kind kind, u32 length)
{
	put_object(SOURCE_TEXT, kind);
	put(SOURCE_TEXT + 8, SMALL(length));
	put(SOURCE_TEXT + 24, SOURCE);
}

static HOST_UNUSED void put_objects(void)
{
	static const u16 type[KINDS] = {
		[SHARED_MAP] = 262, [SCRIPT_MAP] = 167, [BYTECODE_MAP] = 191,  [SCOPE_MAP] = 261,
		[CODE_MAP] = 245,   [ARRAY_MAP] = 190,	[FUNCTION_MAP] = 1060, [ONE_BYTE] = 8,
		[TWO_BYTES] = 0,    [JOINED] = 9,	[OUTSIDE] = 10,	       [OUTSIDE_WIDE] = 2,
		[UNCACHED] = 26,    [SLICE] = 11,	[THIN] = 13,	       [NO_FORM] = 12,
		[OTHER] = 300,
	};

	for (u32 i = 1; i < KINDS; i++)
		put(MAP(i) + 8, (u64)type[i] << 32 | 0xabcd000000000000ull);
	for (u32 i = 0; i < FUNCTIONS; i++)
		put_function(i);
	for (u32 i = 0; i < SCRIPTS; i++)
		put_script(i, SOURCE_TEXT);
	put_source(OUTSIDE, 100);
}

/* ---- frames ---- */

#define SP (scene.reg[REG_RSP])
/* The frame pointer of frame n. */
#define BP(n) (SP + 0x100 + (n)*0x100ull)
#define PC    (BEGIN(0) + 0x40)
/* The kind of a frame without a function, in place of the context. */
#define MARKER 4u

/* Frame n, which returns to an address, and its function, whose code has no place. */
static HOST_UNUSED void put_frame(u32 n, u64 returns, u32 function)
{
	WORD(BP(n)) = BP(n + 1);
	WORD(BP(n) + 8) = returns;
	WORD(BP(n) - 8) = TAGGED(MAP(OTHER));
	WORD(BP(n) - 16) = TAGGED(CALLABLE(function));
	WORD(BP(n) - 24) = 1;
	WORD(BP(n) - 32) = TAGGED(TEXT(0));
	WORD(BP(n) - 40) = TAGGED(TEXT(0));
}

/* The same at a place in the interpreter's code. */
static HOST_UNUSED void put_interpreted(u32 n, u64 returns, u32 function, u32 place)
{
	put_frame(n, returns, function);
	WORD(BP(n) - 32) = TAGGED(BYTECODE(function));
	WORD(BP(n) - 40) = SMALL(BYTECODE_DATA - V8_TAG + place);
}

/* The outermost frame: V8's entry, which native code has called. */
static HOST_UNUSED void put_entry(u32 n)
{
	put_frame(n, RETURN(1), 0);
	WORD(BP(n)) = 0;
	WORD(BP(n) - 8) = MARKER;
}

/* ---- the process ---- */

static HOST_UNUSED int heap_setup(void **state)
{
	int r = scene_setup(state);

	memset(&heap, 0, sizeof(heap));
	memset(heap.code, 0x90, sizeof(heap.code));
	memset(heap.source, 'x', sizeof(heap.source));
	for (u32 i = 0; i < PIECES; i++)
		memcpy(heap.code + i * 256 + 0x60 - 2, "\xff\xd0", 2); /* call *%rax */
	host.region[2] = (struct host_region){DATA, sizeof(heap.data), heap.data};
	host.region[3] = (struct host_region){CODE, sizeof(heap.code), heap.code};
	host.region[4] = (struct host_region){SOURCE, SOURCE_BYTES, heap.source};
	host.executable = CODE;
	host.executable_end = CODE + CODE_BYTES_;
	host.may_list = true;
	host.tell = on_tell;
	host.tell_inlined = on_tell_inlined;
	host.knows = is_known;
	memset(host.leaf, 0, sizeof(host.leaf));
	heap.config = (struct runtime_config){
		.flags = RUNTIME_FRAMES,
		.part = {0, 8, 16, 24},
		.last_count = 32,
		.last_unit = 1,
		/* V8 11.3 */
		.v8 = {.inside = FUNCTION(0) - SCENE_BIAS,
		       .function_shared = 24,
		       .shared_bytes = SHARED_BYTES,
		       .shared_data = 8,
		       .shared_name = 16,
		       .shared_script = 32,
		       .shared_counts = SHARED_COUNTS,
		       .shared_number = SHARED_NUMBER,
		       .map_type = 12,
		       .type_shared = 262,
		       .type_script = 167,
		       .type_bytecode = 191,
		       .type_scope = 261,
		       .type_code = 245,
		       .type_text_end = 128,
		       .script_source = 8,
		       .script_name = 16,
		       .script_number = 64,
		       .text_length = 12,
		       .text_first = 16,
		       .text_data = 16,
		       .text_offset = 24,
		       .text_resource = 24,
		       .scope_count = 2,
		       .scope_first = 3,
		       .scope_names = 75,
		       .scope_module = 3,
		       .scope_shift = 32,
		       .bytecode_positions = 32,
		       .bytecode_data = BYTECODE_DATA,
		       .code_bytecode = 16,
		       .array_length = 8,
		       .array_data = 16},
	};
	scene.rule[1] = RULE_LAST;
	scene.pc = PC;
	scene.reg[REG_RBP] = BP(0);
	put_objects();
	return r;
}

/* Makes a block of the image and of the code that V8 has made. */
static HOST_UNUSED void heap_publish(void)
{
	struct mapping_entry mappings[2] = {0};
	u32 word = build_words(&host.build, sizeof(heap.config) / 4, 16);

	memcpy(build_at(&host.build, word), &heap.config, sizeof(heap.config));
	scene.mapping.runtime = word;
	scene_publish();
	mappings[0] = scene.mapping;
	mappings[1] = (struct mapping_entry){
		.start = CODE,
		.end = CODE + CODE_BYTES_,
		.bias = SCENE_BIAS,
		.runtime = word,
	};
	host.walk.block = build_block(&host.build, mappings, 2);
	host.walk.mappings = 2;
}

/* Walks, and takes the functions of the frames. Returns the number of words. */
static HOST_UNUSED u32 walk_again(void)
{
	scene_walk();
	host.walk.list.reads = 0;
	if (!host.walk.marks || runtime_begin())
		return 0;
	for (u32 i = 0; i <= WALK_STEPS_MAX; i++)
		if (walk_step())
			break;
	assert_int_equal(host.walk.list.on, 0);
	return host.walk.list.words;
}

static HOST_UNUSED u32 walk(void)
{
	heap_publish();
	return walk_again();
}

/* A stack of one function, which is compiled. */
static HOST_UNUSED void put_one(u32 function)
{
	put_frame(0, CALLED(1), function);
	put_entry(1);
}

/* Walks such a stack as a process that no event has told of. Returns the event, or NULL. */
static HOST_UNUSED const struct told_event *told_of(u32 function)
{
	heap.events = heap.parts = 0;
	put_one(function);
	assert_int_equal(walk(), 3);
	assert_int_equal(host.word[0], RUNTIME_WORD_FRAME | SHARED(function));
	assert_true(heap.events < 2);
	return heap.events ? &heap.event[0] : NULL;
}

/* Expects the first byte of a text in an event, its length, and the size of its characters. */
static HOST_UNUSED void expect_text(u64 address, u64 named, u64 expected, u32 length, u32 is_wide)
{
	assert_int_equal(address, expected);
	assert_int_equal(V8_NAME_LENGTH(named), length);
	assert_int_equal(!!(named & V8_NAME_IS_WIDE), is_wide);
}

#endif

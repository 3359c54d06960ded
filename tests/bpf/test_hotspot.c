/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of code that a made-up HotSpot has made, and of its interpreter. */
#include "tests/bpf/scene.h"

#define SP (scene.reg[REG_RSP])

/* The heap of code: segments of 64 bytes. A block's head has 16 bytes, a blob begins behind it. */
#define CODE_HEAP   0x7f0000000000ull
#define CODE_BYTES_ 16384u
#define SEGMENT	    64u
#define BLOB(n)	    (CODE_HEAP + (n)*0x400ull + 16)
#define BLOB_BYTES  0x3f0u
#define BEGIN(n)    (BLOB(n) + 0x80)  /* its first instruction */
#define CALLED(n)   (BEGIN(n) + 0x60) /* behind a call through a register */
#define RETURNS	    CALLED(4)	      /* to which an activation's outermost function returns */
#define INTERPRETER (CODE_HEAP + 0x2000)
#define INTERPRETED (INTERPRETER + 0x80) /* an address that no call is before */

/* Memory of the process. */
#define DATA	       0x600000000000ull
#define DATA_WORDS     4096u
#define VARIABLES      DATA
#define HEAPS	       (DATA + 0x100)
#define HEAP(n)	       (DATA + 0x200 + (n)*0x100ull)
#define QUEUE	       (DATA + 0x600)
#define SEGMENTS       (DATA + 0x800)
#define NAMES	       (DATA + 0x1000)
#define METHOD(n)      (DATA + 0x2000 + (n)*0x100ull)
#define CONSTANT(n)    (DATA + 0x3000 + (n)*0x100ull)
#define BYTECODE(n, i) (CONSTANT(n) + 64 + (i))
#define POOL	       (DATA + 0x4000)
#define CLASS	       (DATA + 0x4800)
#define PLACES	       (DATA + 0x5000)
#define SCOPES	       (DATA + 0x5800)
#define FUNCTIONS      (DATA + 0x6000)

#define FRAME(code)    (RUNTIME_WORD_FRAME | (code))
#define BORDER(n)      (RUNTIME_WORD_BORDER | (n))
#define PLACE(word)    ((word) >> 32)
#define COMPILED_WORDS 6u /* of a compiled function's frame */

static u64 data[DATA_WORDS];
static u8 code[CODE_BYTES_];
static struct runtime_config config;
static u64 told[128];
static u32 tolds;

static void put(u64 address, u64 value, size_t bytes)
{
	assert(address - DATA + bytes <= sizeof(data));
	memcpy((u8 *)data + (address - DATA), &value, bytes);
}

static void put_code(u64 address, const void *bytes, size_t size)
{
	assert(address - CODE_HEAP + size <= sizeof(code));
	memcpy(code + (address - CODE_HEAP), bytes, size);
}

static void put_head(u32 number, size_t at, u64 value, size_t bytes)
{
	put_code(BLOB(number) + at, &value, bytes);
}

/* A blob with its segments, and the bytes before its call. frame: in words. */
static void put_blob(u32 number, u64 name, u32 frame)
{
	const u32 first = number * 0x400 / SEGMENT;

	for (u32 i = 0; i < 0x400 / SEGMENT; i++)
		put(SEGMENTS + first + i, i, 1);
	put_head(number, 8, BLOB_BYTES, 4);
	put_head(number, 16, frame, 4);
	put_head(number, 20, 16, 4); /* where the frame is complete */
	put_head(number, 24, name, 8);
	put_head(number, 32, BEGIN(number), 8);
	put_head(number, 40, METHOD(number), 8);
	put_head(number, 48, 100 + number, 4);
	put_head(number, 56, SCOPES, 8);
	put_head(number, 64, PLACES, 8);
	put_head(number, 72, PLACES, 8);
	put_head(number, 80, FUNCTIONS, 8);
	put_code(CALLED(number) - 2, "\xff\xd0", 2); /* call *%rax */
}

static void put_method(u32 number)
{
	put(METHOD(number) + 8, CONSTANT(number), 8);
	put(CONSTANT(number) + 8, POOL, 8);
	put(CONSTANT(number) + 24, 20, 4); /* words */
	put(CONSTANT(number) + 32, 40, 2); /* bytes of code */
	put(CONSTANT(number) + 34, number, 2);
	put(CONSTANT(number) + 36, number + 8, 2);
}

static void on_tell(u64 function)
{
	assert(tolds < sizeof(told) / sizeof(told[0]));
	told[tolds++] = function;
	host.told_before = function;
}

static void put_process(void)
{
	put(VARIABLES, HEAPS, 8);
	put(VARIABLES + 8, QUEUE, 8);
	put(VARIABLES + 16, RETURNS, 8);
	put(HEAPS, 2, 4);
	put(HEAPS + 8, HEAPS + 16, 8);
	put(HEAPS + 16, HEAP(0), 8);
	put(HEAPS + 24, HEAP(1), 8);
	put(HEAP(0), 0x1000, 8); /* an empty one, elsewhere */
	put(HEAP(0) + 8, 0x1000, 8);
	put(HEAP(1), CODE_HEAP, 8);
	put(HEAP(1) + 8, CODE_HEAP + CODE_BYTES_, 8);
	put(HEAP(1) + 16, SEGMENTS, 8);
	put(HEAP(1) + 24, 6, 4);
	put(QUEUE + 8, INTERPRETER, 8);
	put(QUEUE + 20, 0x1000, 4);
	memcpy((u8 *)data + (NAMES - DATA), "nmethod", 8);
	memcpy((u8 *)data + (NAMES + 19 - DATA), "StubRoutines (1)", 17);
	memcpy((u8 *)data + (NAMES + 64 - DATA), "a stub", 7);
	for (u32 i = 0; i < 8; i++) {
		put_method(i);
		put(FUNCTIONS + i * 8, METHOD(i), 8);
		put_blob(i, NAMES, COMPILED_WORDS);
	}
	put(POOL + 24, CLASS, 8);
	put(CLASS + 24, 0x1111, 8);
}

static int setup(void **state)
{
	int r = scene_setup(state);

	memset(data, 0, sizeof(data));
	memset(code, 0x90, sizeof(code));
	host.region[2] = (struct host_region){DATA, sizeof(data), data};
	host.region[3] = (struct host_region){CODE_HEAP, sizeof(code), code};
	host.executable = CODE_HEAP;
	host.executable_end = CODE_HEAP + CODE_BYTES_;
	config = (struct runtime_config){
		.flags = RUNTIME_HEAPS,
		.part = {0, 8, 16, 24},
		.last_count = 32,
		.last_unit = 8,
		.hotspot = {.inside = FUNCTION(0) - SCENE_BIAS,
			    .heaps = VARIABLES - SCENE_BIAS,
			    .interpreter = VARIABLES + 8 - SCENE_BIAS,
			    .returns = VARIABLES + 16 - SCENE_BIAS,
			    .heaps_data = 8,
			    .heap_high = 8,
			    .heap_segments = 16,
			    .heap_shift = 24,
			    .block_bytes = 16,
			    .code_start = 8,
			    .code_bytes = 20,
			    .head_bytes = 56,
			    .size = 8,
			    .complete = 20,
			    .complete_bytes = 4,
			    .frame = 16,
			    .name = 24,
			    .method = 40,
			    .own = 48,
			    .code = {32, HOTSPOT_POINTER},
			    .scopes = {56, HOTSPOT_POINTER},
			    .places = {64, HOTSPOT_POINTER},
			    .places_end = {72, HOTSPOT_POINTER},
			    .functions = {80, HOTSPOT_POINTER},
			    .constant = 8,
			    .pool = 8,
			    .constant_bytes = 64,
			    .constant_size = 24,
			    .code_size = 32,
			    .name_index = 34,
			    .signature_index = 36,
			    .pool_bytes = 64,
			    .pool_class = 24,
			    .class_name = 24,
			    .file_index = 54,
			    .bytecode_below = 64},
	};
	scene.rule[1] = RULE_LAST;
	host.may_list = true;
	host.tell = on_tell;
	host.told_inlined = tolds = 0;
	host.told_before = 0;
	put_process();
	return r;
}

/* Makes a block of the native code and of the heap of code. */
static void publish(void)
{
	struct mapping_entry mappings[2] = {0};
	u32 word = build_words(&host.build, sizeof(config) / 4, 16);

	memcpy(build_at(&host.build, word), &config, sizeof(config));
	scene.mapping.runtime = word;
	scene_publish();
	mappings[0] = scene.mapping;
	mappings[1] = (struct mapping_entry){
		.start = CODE_HEAP,
		.end = CODE_HEAP + CODE_BYTES_,
		.bias = SCENE_BIAS,
		.runtime = word,
	};
	host.walk.block = build_block(&host.build, mappings, 2);
	host.walk.mappings = 2;
}

/* Walks the same process. Returns the number of words. */
static u32 walk_again(void)
{
	scene_walk();
	host.walk.list.told = 8;
	if (host.walk.reason != REASON_end_root || !host.walk.marks || runtime_begin())
		return 0;
	for (u32 i = 0; i <= RECORD_FRAMES_MAX; i++)
		if (walk_step())
			break;
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	return host.walk.list.words;
}

/* Walks, and takes the functions of the frames. Returns the number of words. */
static u32 walk(void)
{
	publish();
	return walk_again();
}

#define EXPECT_FRAMES(...) \
	expect_frames(sizeof((const u64[]){__VA_ARGS__}) / 8, (const u64[]){__VA_ARGS__})
static void expect_frames(u32 count, const u64 *frames)
{
	assert_int_equal(host.walk.frames, count);
	for (u32 i = 0; i < count; i++)
		assert_int_equal(host.frame[i], frames[i]);
}

/*
 * Puts an activation above sp: the interpreter's frame of function 2, and the frame of the entry.
 * Returns the interpreter's frame pointer.
 */
static u64 put_activation(u64 sp)
{
	const u64 bp = sp + 0x80, outer = bp + 0x100;

	WORD(bp - HOTSPOT_SENDER) = bp + 0x20;
	WORD(bp - HOTSPOT_FUNCTION) = METHOD(2);
	WORD(bp - 64) = BYTECODE(2, 7);
	WORD(bp) = outer;
	WORD(bp + 8) = RETURNS;
	WORD(outer) = 0;
	WORD(outer + 8) = RETURN(1);
	return bp;
}

/* A compiled frame at sp, which the interpreter has called. */
static void put_compiled(u64 sp)
{
	const u64 cfa = sp + COMPILED_WORDS * 8;

	WORD(cfa - 8) = INTERPRETED;
	WORD(cfa - 16) = put_activation(cfa);
}

#define PC	   (BEGIN(1) + 0x40)
#define EXPECT_ALL EXPECT_FRAMES(EXACT(scene.pc), INTERPRETED, RETURNS, RETURN(1))

static void test_hotspot__frames(void **state)
{
	(void)state;
	scene.pc = PC;
	put_compiled(SP);
	assert_int_equal(walk(), 3 + 3 + 1);
	EXPECT_ALL;
	assert_int_equal(host.word[0], FRAME(BEGIN(1))); /* without places */
	assert_int_equal(host.word[2], BORDER(0));
	assert_int_equal(host.word[3], FRAME(METHOD(2)));
	assert_int_equal(PLACE(host.word[4]), 7);
	assert_int_equal(host.word[5], BORDER(1));
	assert_int_equal(host.word[6], BORDER(2));
	assert_int_equal(host.told_inlined, BEGIN(1));
	assert_int_equal(tolds, 2);
	assert_int_equal(told[0], METHOD(1));
	assert_int_equal(told[1], METHOD(2));
}

static void let_trust_end(void)
{
	for (u32 i = 0; i < HOTSPOT_BLOBS; i++)
		host.walk.blob[i].trusted_at -= HOTSPOT_TRUST_NS;
}

/* A blob that walks have met is read again after some time, and then whole if it is another one. */
static void test_hotspot__blobs_that_are_known(void **state)
{
	u32 print, reads;

	(void)state;
	scene.pc = PC;
	put_compiled(SP);
	assert_int_equal(walk(), 7);
	print = (u32)host.word[1];
	reads = host.walk.list.reads;
	host.told_before = METHOD(1);
	put_head(1, 40, METHOD(3), 8);
	assert_int_equal(walk_again(), 7);
	assert_int_equal((u32)host.word[1], print);
	assert_true(host.walk.list.reads < reads);
	let_trust_end();
	assert_int_equal(walk_again(), 7);
	assert_int_not_equal((u32)host.word[1], print);
	assert_int_equal(told[tolds - 2], METHOD(3));
	/* the head of the block has another length now */
	print = (u32)host.word[1];
	put_head(1, 48, 77, 4);
	put_code(BLOB(1) - 16, "\x77", 1);
	assert_int_equal(walk_again(), 7);
	assert_int_equal((u32)host.word[1], print);
	let_trust_end();
	assert_int_equal(walk_again(), 7);
	assert_int_not_equal((u32)host.word[1], print);
}

/* Code at another address of the same process's earlier version is no known blob. */
static void test_hotspot__blobs_of_another_version(void **state)
{
	u32 print;

	(void)state;
	scene.pc = PC;
	put_compiled(SP);
	assert_int_equal(walk(), 7);
	print = (u32)host.word[1];
	put_head(1, 40, METHOD(3), 8);
	assert_int_equal(walk(), 7);
	assert_int_not_equal((u32)host.word[1], print);
}

/* A leaf whose frame is not there yet, or not any more. */
static void test_hotspot__leaves(void **state)
{
	static const struct {
		const char *before, *at; /* code; 8 and 16 bytes */
		u32 offset, words;	 /* of the pc in the code; that are on the stack */
		bool has_pushed;	 /* rbp */
	} leaves[] = {
		{"\x90\x90\x90\x90\x90\x90\x90\x90", "\x89\x84\x24\x00\xc0\xfe\xff\x55", 0, 1,
		 false},
		{"\x90\x89\x84\x24\x00\xc0\xfe\xff", "\x55\x48\x83\xec\x20\x90\x90\x90", 7, 1,
		 false},
		{"\x89\x84\x24\x00\xc0\xfe\xff\x55", "\x48\x83\xec\x20\x90\x90\x90\x90", 8, 2,
		 true},
		{"\xc0\xfe\xff\x55\x48\x83\xec\x20", "\x90\x90\x90\x90\x90\x90\x90\x90", 12,
		 COMPILED_WORDS, true},
		{"\x90\x90\x90\x90\x48\x83\xc4\x20", "\x5d\xc3\x90\x90\x90\x90\x90\x90", 0x40, 2,
		 true},
		{"\x90\x90\x90\x48\x83\xc4\x20\x5d", "\xc3\x90\x90\x90\x90\x90\x90\x90", 0x41, 1,
		 false},
		{"\x90\x48\x81\xec\x20\x00\x00\x00", "\x48\x89\x6c\x24\x18\x90\x90\x90", 8,
		 COMPILED_WORDS, false},
	};

	(void)state;
	for (u32 i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++) {
		const u64 cfa = SP + leaves[i].words * 8;
		const u64 bp = put_activation(cfa);

		scene.pc = BEGIN(1) + leaves[i].offset;
		put_code(scene.pc - 8, leaves[i].before, 8);
		put_code(scene.pc, leaves[i].at, 8);
		WORD(cfa - 8) = INTERPRETED;
		scene.reg[REG_RBP] = bp;
		if (leaves[i].has_pushed) {
			WORD(cfa - 16) = bp;
			scene.reg[REG_RBP] = 5;
		}
		assert_int_not_equal(walk(), 0);
		EXPECT_ALL;
		assert_int_equal(scene_teardown(state), 0);
		assert_int_equal(setup(state), 0);
		SP = SCENE_STACK + 0x4000;
	}
}

/* ---- functions that are inlined ---- */

static void put_place(u32 number, u32 offset, u32 scope)
{
	put(PLACES + number * 16, offset, 4);
	put(PLACES + number * 16 + 4, scope, 4);
	put_head(1, 72, PLACES + (number + 1) * 16, 8);
}

/* The scope of the function around, the function, and the instruction: one byte each. */
static void put_scope(u32 at, u32 outer, u32 function, u32 instruction)
{
	put(SCOPES + at, outer | (function + 1) << 8 | (instruction + 1) << 16, 3);
}

static void expect_inlined(u32 number, u32 function, u32 instruction)
{
	assert_int_equal(host.walk.window[number * 2], METHOD(function));
	assert_int_equal(PLACE(host.walk.window[number * 2 + 1]), instruction);
}

static void test_hotspot__inlined(void **state)
{
	(void)state;
	scene.pc = PC;
	put_compiled(SP);
	put_place(0, ~0u, 0);
	put_place(1, 0x20, 40);
	put_place(2, 0x60, 10);
	put_place(3, 0x61, 40);
	put_scope(10, 20, 5, 3);
	put_scope(20, 30, 4, 190);
	put_scope(30, 0, 1, 9);
	assert_int_not_equal(walk(), 0);
	assert_int_equal(host.word[0], FRAME(BEGIN(1) + 0x60));
	assert_int_equal(host.told_inlined, BEGIN(1) + 0x60);
	assert_int_equal(host.walk.hotspot.inlined, 3);
	expect_inlined(0, 5, 3);
	expect_inlined(1, 4, 190);
	expect_inlined(2, 1, 9);
	assert_int_equal(tolds, 4);
}

/* The entry of a function counts as its first instruction. */
static void test_hotspot__entries(void **state)
{
	(void)state;
	scene.pc = PC;
	put_compiled(SP);
	put_place(0, ~0u, 0);
	put_place(1, 0x40, 10);
	put(SCOPES + 10, 0 | 2 << 8 | 0 << 16, 3);
	assert_int_not_equal(walk(), 0);
	assert_int_equal(host.walk.hotspot.inlined, 1);
	expect_inlined(0, 1, 0);
}

/* Numbers of several bytes, with and without zeros. 1000 = 192 + 40 + (12 << 6) + ... */
static void test_hotspot__numbers(void **state)
{
	(void)state;
	for (u32 excluded = 0; excluded < 2; excluded++) {
		const u32 low = (1000u & 63) + 192, high = (1000 - low) >> 6;

		assert_int_equal(scene_teardown(state), 0);
		assert_int_equal(setup(state), 0);
		scene.pc = PC;
		put_compiled(SP);
		config.hotspot.excluded = excluded;
		put_place(0, ~0u, 0);
		put_place(1, 0x40, 10);
		put(SCOPES + 10, excluded | (2 + excluded) << 8, 2);
		put(SCOPES + 12, low + excluded, 1);
		put(SCOPES + 13, high + excluded, 1);
		if (low + excluded > 255)
			continue;
		assert_int_not_equal(walk(), 0);
		assert_int_equal(host.walk.hotspot.inlined, 1);
		expect_inlined(0, 1, 999);
	}
}

/* Each scope leads to itself, or to memory that is not there. */
static void test_hotspot__scopes_that_lead_nowhere(void **state)
{
	(void)state;
	scene.pc = PC;
	put_compiled(SP);
	put_place(0, ~0u, 0);
	put_place(1, 0x40, 10);
	put_scope(10, 10, 1, 3);
	assert_int_not_equal(walk(), 0);
	assert_int_equal(host.walk.hotspot.inlined, HOTSPOT_INLINED_MAX);
	put(PLACES + 16 + 4, 0x7ffffff0, 4);
	host.told_inlined = 0;
	assert_int_not_equal(walk(), 0);
	assert_int_equal(host.told_inlined, 0);
	put_scope(10, 0, 200, 3);
	put(PLACES + 16 + 4, 10, 4);
	put(FUNCTIONS + 200 * 8, 8, 8);
	assert_int_not_equal(walk(), 0);
	assert_int_equal(host.told_inlined, 0);
}

/* ---- other code ---- */

/* Code by hand: called directly, with words pushed; with a frame pointer; and an entry. */
static void test_hotspot__stubs(void **state)
{
	const u64 target = BEGIN(6) + 0x10, place = CALLED(1) + 0x100;
	const u32 distance = (u32)(target - place);

	(void)state;
	put_blob(6, NAMES + 19, 0);
	put_code(place - 5, "\xe8", 1);
	put_code(place - 4, &distance, 4);
	scene.pc = target + 0x20;
	WORD(SP) = 7;
	WORD(SP + 8) = 8;
	WORD(SP + 16) = place;
	put_compiled(SP + 24);
	assert_int_not_equal(walk(), 0);
	EXPECT_FRAMES(EXACT(scene.pc), place, INTERPRETED, RETURNS, RETURN(1));
	assert_int_equal(host.word[0], FRAME(BLOB(6)));
	scene.reg[REG_RBP] = SP + 0x40;
	WORD(SP + 16) = 9;
	WORD(SP + 0x40) = 5;
	WORD(SP + 0x48) = place;
	put_compiled(SP + 0x50);
	assert_int_not_equal(walk(), 0);
	EXPECT_FRAMES(EXACT(scene.pc), place, INTERPRETED, RETURNS, RETURN(1));
	put_blob(6, NAMES + 64, 0);
	WORD(SP) = place;
	put_compiled(SP + 8);
	assert_int_not_equal(walk(), 0);
	EXPECT_FRAMES(EXACT(scene.pc), place, INTERPRETED, RETURNS, RETURN(1));
}

/* The rest of a virtual thread's functions lies in the heap. */
static void test_hotspot__virtual_threads(void **state)
{
	const u64 barrier = BEGIN(6) + 0x10, cfa = SP + COMPILED_WORDS * 8;

	(void)state;
	put_blob(6, NAMES + 19, 0);
	scene.pc = PC;
	WORD(cfa - 8) = barrier;
	for (u32 i = 0; i < 8; i++)
		WORD(cfa + i * 8) = 0x77;
	WORD(cfa + 72) = CALLED(3);
	put_compiled(cfa + 80);
	assert_int_not_equal(walk(), 0);
	EXPECT_FRAMES(EXACT(scene.pc), barrier, CALLED(3), INTERPRETED, RETURNS, RETURN(1));
	assert_int_equal(host.word[3], FRAME(RUNTIME_CODE_ELSEWHERE));
	assert_int_equal(host.word[5], BORDER(1));
}

/* ---- functions of virtual threads in the heap ---- */

/* The same memory at an address of 4 bytes. */
#define LOW	     0x40000000ull
#define CONTINUATION 0x6800u
#define PIECE(n)     (0x6a00u + (n)*0x200u)
#define BARRIER	     (BEGIN(6) + 0x10)

static const struct pointers {
	u32 shift, bytes, of_continuation, to_continuation, start, pc, top;
	u64 base;
	u32 colour; /* bits below an address */
} pointers[] = {
	{0, 4, 32, 44, 48, 16, 24, LOW, 0},   {3, 4, 32, 44, 48, 16, 24, LOW, 0},
	{0, 4, 28, 40, 48, 8, 20, LOW, 0},    {3, 4, 28, 40, 48, 8, 20, LOW, 0},
	{0, 8, 48, 48, 56, 16, 24, DATA, 0},  {0, 8, 48, 48, 56, 8, 20, DATA, 0},
	{0, 8, 48, 48, 56, 16, 24, DATA, 13}, {0, 8, 48, 48, 56, 8, 20, DATA, 14},
	{0, 8, 48, 48, 56, 16, 24, DATA, 15}, {0, 8, 48, 48, 56, 8, 20, DATA, 16},
};

static void put_reference(const struct pointers *how, u32 at, u32 to)
{
	u64 pointer = (how->base + to) >> how->shift;

	if (how->colour)
		pointer = pointer << how->colour | 1ull << (how->colour - 1) | 0x50;
	put(DATA + at, pointer, how->bytes);
}

/* A piece with frames from a word to another one, and the pc of the first frame. */
static void put_piece(const struct pointers *how, u32 number, u32 first, u32 end)
{
	put_reference(how, PIECE(number) + how->to_continuation, CONTINUATION);
	if (how->pc != 8)
		put(DATA + PIECE(number) + 8, 0x6400001234, 8); /* size and class */
	put(DATA + PIECE(number) + how->pc, CALLED(1), 8);
	put(DATA + PIECE(number) + how->top, first, 4);
	put(DATA + PIECE(number) + how->top + 4, end, 4);
}

/* Puts a word of a piece's frames. */
static void put_word(const struct pointers *how, u32 number, u32 at, u64 word)
{
	put(DATA + PIECE(number) + how->start + at * 8, word, 8);
}

/* Compiled functions 1 and 3, and between them one of the interpreter, whose pointer is word 20. */
static void put_frames(const struct pointers *how, u32 number)
{
	put_piece(how, number, 4, 32);
	put_word(how, number, 8, 20 - 8);
	put_word(how, number, 9, INTERPRETED);
	put_word(how, number, 20 - 8, BYTECODE(2, 7));
	put_word(how, number, 20 - 3, METHOD(2));
	put_word(how, number, 20 - 1, 26 - 20);
	put_word(how, number, 20, 5);
	put_word(how, number, 21, CALLED(3));
	put_word(how, number, 30, 5);
	put_word(how, number, 31, 0);
}

/* A virtual thread, one of whose functions is on the stack. */
static void put_virtual_thread(const struct pointers *how)
{
	const u64 cfa = SP + COMPILED_WORDS * 8;

	put_blob(6, NAMES + 19, 0);
	host.region[4] = (struct host_region){LOW, sizeof(data), data};
	config.hotspot.has_pieces = 1;
	scene.pc = PC;
	WORD(cfa - 8) = BARRIER;
	for (u32 i = 0; i < 8; i++)
		WORD(cfa + i * 8) = 0x77;
	WORD(cfa + 16) = how->base + CONTINUATION;
	WORD(cfa + 72) = CALLED(5);
	put_compiled(cfa + 80);
	put_reference(how, CONTINUATION + how->of_continuation, PIECE(0));
}

#define IN_PIECE   CALLED(1), INTERPRETED, CALLED(3)
#define BEHIND_ALL CALLED(5), INTERPRETED, RETURNS, RETURN(1)

static void test_hotspot__pieces(void **state)
{
	for (u32 i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
		put_virtual_thread(&pointers[i]);
		put_frames(&pointers[i], 0);
		assert_int_not_equal(walk(), 0);
		EXPECT_FRAMES(EXACT(PC), BARRIER, IN_PIECE, BARRIER, BEHIND_ALL);
		assert_int_equal(host.word[2], BORDER(0));
		assert_int_equal(host.word[3], BORDER(1)); /* nobody wants to see the barrier */
		assert_int_equal(host.word[7], FRAME(METHOD(2)));
		assert_int_equal(PLACE(host.word[8]), 7);
		assert_int_equal(scene_teardown(state), 0);
		assert_int_equal(setup(state), 0);
	}
}

/* Code by hand has called HotSpot, which brings functions back, or has brought all of them. */
static void test_hotspot__thaws(void **state)
{
	const struct pointers *how = &pointers[1];
	const u64 entry = SP + 0x100, stub = CALLED(6);

	put_virtual_thread(how);
	put_frames(how, 0);
	scene.pc = FUNCTION(0) + 8;
	scene.rule[0] = RULE(SP, 0, 0, 16);
	scene.reg[REG_RBP] = entry + 64;
	WORD(SP + 8) = stub;
	WORD(entry + 16) = LOW + CONTINUATION;
	WORD(entry + 72) = CALLED(5);
	put_compiled(entry + 80);
	assert_int_not_equal(walk(), 0);
	EXPECT_FRAMES(EXACT(scene.pc), stub, IN_PIECE, stub, BEHIND_ALL);
	put_piece(how, 0, 32, 32);
	assert_int_not_equal(walk(), 0);
	EXPECT_FRAMES(EXACT(scene.pc), stub, BEHIND_ALL);
	assert_int_equal(host.word[0], FRAME(RUNTIME_CODE_ELSEWHERE));
	(void)state;
}

/* An empty piece, one with frames, and one whose frames are of the interpreter down to its end. */
static void test_hotspot__parents(void **state)
{
	const struct pointers *how = &pointers[1];

	(void)state;
	put_virtual_thread(how);
	put_piece(how, 0, 34, 34);
	put_frames(how, 1);
	put_reference(how, PIECE(0) + 40, PIECE(1));
	put_reference(how, PIECE(1) + 40, PIECE(2));
	put_frames(how, 2);
	put_word(how, 2, 21, 0);
	assert_int_not_equal(walk(), 0);
	EXPECT_FRAMES(EXACT(PC), BARRIER, IN_PIECE, CALLED(1), INTERPRETED, BARRIER, BEHIND_ALL);
}

/* Pieces without frames, in a circle, and of another continuation. A circle of frames ends. */
static void test_hotspot__no_pieces(void **state)
{
	const struct pointers *how = &pointers[1];

	(void)state;
	put_virtual_thread(how);
	put_piece(how, 0, 34, 34);
	put_reference(how, PIECE(0) + 40, PIECE(0));
	assert_int_not_equal(walk(), 0);
	EXPECT_FRAMES(EXACT(PC), BARRIER, BEHIND_ALL);
	assert_int_equal(host.word[3], FRAME(RUNTIME_CODE_ELSEWHERE));
	put_frames(how, 0);
	put(DATA + PIECE(0) + how->to_continuation, 0x1000, 4);
	assert_int_not_equal(walk(), 0);
	EXPECT_FRAMES(EXACT(PC), BARRIER, BEHIND_ALL);
	put_frames(how, 0);
	put(DATA + CONTINUATION + how->of_continuation, 8, 4);
	assert_int_not_equal(walk(), 0);
	EXPECT_FRAMES(EXACT(PC), BARRIER, BEHIND_ALL);
	put_reference(how, CONTINUATION + how->of_continuation, PIECE(0));
	assert_int_not_equal(walk(), 0);
	assert_int_equal(host.walk.switches, WALK_SWITCHES);
	assert_int_equal(host.walk.frames, 3 + 3 * WALK_SWITCHES + 4);
}

/* ---- what must not be read ---- */

static void test_hotspot__without_a_grant(void **state)
{
	(void)state;
	scene.pc = PC;
	put_compiled(SP);
	host.may_list = false;
	assert_int_equal(walk(), 0);
	assert_int_equal(host.walk.hotspot.is_known, HOTSPOT_NONE);
	assert_int_equal(host.walk.marks, 0);
}

static void test_hotspot__fields_outside(void **state)
{
	u16 *const fields[] = {
		&config.hotspot.size,
		&config.hotspot.complete,
		&config.hotspot.frame,
		&config.hotspot.name,
		&config.hotspot.method,
		&config.hotspot.kind,
		&config.hotspot.own,
		&config.hotspot.code.at,
		&config.hotspot.pool,
		&config.hotspot.code_size,
		&config.hotspot.constant_size,
		&config.hotspot.name_index,
		&config.hotspot.signature_index,
	};

	(void)state;
	for (u32 i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		scene.pc = PC;
		put_compiled(SP);
		*fields[i] = 64;
		assert_int_equal(walk(), 0);
		assert_int_equal(host.walk.hotspot.is_known, HOTSPOT_NONE);
		assert_int_equal(scene_teardown(state), 0);
		assert_int_equal(setup(state), 0);
	}
	config.hotspot.head_bytes = config.hotspot.constant_bytes = RUNTIME_HEAD_BYTES + 8;
	assert_int_equal(walk(), 0);
	assert_int_equal(host.walk.hotspot.is_known, HOTSPOT_NONE);
}

/* Segments without a beginning, free ones, and blobs that end before the address. */
static void test_hotspot__damaged_heaps(void **state)
{
	const u64 segment = SEGMENTS + (PC - CODE_HEAP) / SEGMENT;

	(void)state;
	scene.pc = PC;
	put_compiled(SP);
	for (u64 at = SEGMENTS; at <= segment; at++)
		put(at, 1, 1);
	assert_int_equal(walk(), 0);
	put(segment, 0xff, 1);
	assert_int_equal(walk(), 0);
	put(segment, 0xfe, 1);
	assert_int_equal(walk(), 0);
	put_process();
	put_head(1, 8, 0x80, 4);
	assert_int_equal(walk(), 0);
	put_process();
	put(HEAP(1) + 16, 0x1000, 8);
	assert_int_equal(walk(), 0);
	put_process();
	put(VARIABLES, 0, 8);
	assert_int_equal(walk(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(test_hotspot__##name, setup, scene_teardown)
		TEST(frames),
		TEST(leaves),
		TEST(inlined),
		TEST(blobs_that_are_known),
		TEST(blobs_of_another_version),
		TEST(entries),
		TEST(numbers),
		TEST(scopes_that_lead_nowhere),
		TEST(stubs),
		TEST(virtual_threads),
		TEST(without_a_grant),
		TEST(pieces),
		TEST(thaws),
		TEST(parents),
		TEST(no_pieces),
		TEST(fields_outside),
		TEST(damaged_heaps),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over an interpreter's list of frames, with a made-up interpreter of three layouts. */
#define HEAP_WORDS 1024u
#include "tests/bpf/scene_list.h"

#define SP (scene.reg[REG_RSP])

/* The made-up interpreter's memory. */
#define THREAD	     (HEAP + 0x100)
#define NODE(n)	     (HEAP + 0x400 + (n)*0x40ull)
#define CODE(n)	     (HEAP + 0x1000 + (n)*0x100ull)
#define AT_PREVIOUS  8
#define AT_CODE	     0
#define AT_PLACE     16
#define AT_KIND	     24
#define KIND_FRAME   0x100u
#define KIND_BORDER  0x300u
#define FIRST_AT     64 /* of the instructions in code */
#define AT_NAME	     40
#define FRAME(code)  (RUNTIME_WORD_FRAME | (code))
#define BORDER(n)    (RUNTIME_WORD_BORDER | (n))
#define OFFSET(word) ((word) >> 32)

/* Makes a frame of code, `offset` bytes into its instructions, on the heap or on the stack. */
static void node_at(u64 *words, u64 code, u64 offset, u64 kind, u64 previous)
{
	words[AT_CODE / 8] = code | 1; /* a tag */
	words[AT_PREVIOUS / 8] = previous;
	words[AT_PLACE / 8] = code + FIRST_AT + offset;
	words[AT_KIND / 8] = kind;
}

static void node(u32 number, u32 code, u64 offset, u64 previous)
{
	node_at(heap_word(NODE(number)), CODE(code), offset, KIND_FRAME, previous);
}

static void border(u64 address, u64 previous)
{
	node_at(&WORD(address), CODE(0), 0, KIND_BORDER, previous);
}

/* Three native frames, of which the first two are the interpreter's; 64 bytes each. */
static int setup(void **state)
{
	int r = scene_list_setup(state);

	host.thread = THREAD;
	for (u32 i = 0; i < 3; i++) {
		scene.rule[i] = RULE_MAKE(RULE_SP, 0, 0, 64, i < 2 ? RULE_FLAG_RUNTIME : 0);
		WORD(SP + 64 * (i + 1) - 8) = RETURN(i + 1);
	}
	scene.rule[3] = RULE_LAST;
	config = (struct runtime_config){
		.root = {{.start = RUNTIME_AT_THREAD, .steps = 2, .offset = {-8, 16}}},
		.code_mask = ~3ull,
		.border_mask = 0xff00,
		.border_value = KIND_BORDER,
		.node_bytes = 32,
		.previous = AT_PREVIOUS,
		.code = AT_CODE,
		.instruction = AT_PLACE,
		.border = AT_KIND,
		.flags = RUNTIME_ANCHOR_NODE,
		.instructions = FIRST_AT,
		.fingerprint = {0, 4, 8, 12},
		.name = AT_NAME,
		.part = {RUNTIME_CODE_ITSELF, AT_NAME, AT_NAME, AT_NAME},
	};
	HEAP_WORD(THREAD - 8) = HEAP + 0x200; /* the thread's state, */
	HEAP_WORD(HEAP + 0x210) = NODE(0);    /* which has the innermost frame */
	return r;
}

/* Walks the stack and then the list. Returns the words. */
static u32 walk_list(void)
{
	publish_config();
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2), RETURN(3));
	return take_list();
}

static void test_list__frames_between_borders(void **state)
{
	(void)state;
	node(0, 1, 10, NODE(1));
	node(1, 2, 20, SP + 8);
	border(SP + 8, NODE(2)); /* in the leaf's frame */
	node(2, 3, 30, SP + 64 + 16);
	border(SP + 64 + 16, 0); /* in its caller's */
	assert_int_equal(walk_list(), 8);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	assert_int_equal(host.word[0], FRAME(CODE(1)));
	assert_int_equal(OFFSET(host.word[1]), 10);
	assert_int_equal(host.word[2], FRAME(CODE(2)));
	assert_int_equal(OFFSET(host.word[3]), 20);
	assert_int_equal(host.word[4], BORDER(0));
	assert_int_equal(host.word[5], FRAME(CODE(3)));
	assert_int_equal(OFFSET(host.word[6]), 30);
	assert_int_equal(host.word[7], BORDER(1));
}

static void test_list__fingerprints_tell_functions_apart(void **state)
{
	u64 first, second;

	(void)state;
	node(0, 1, 0, NODE(1));
	node(1, 1, 0, 0);
	assert_int_equal(walk_list(), 4);
	assert_int_equal(host.word[1], host.word[3]);
	first = host.word[1];
	HEAP_WORD(CODE(1) + AT_NAME) = HEAP;
	assert_int_equal(walk_list(), 4);
	second = host.word[1];
	assert_int_not_equal(first, second);
	HEAP_WORD(CODE(1) + 8) = 1ull << 32;
	walk_list();
	assert_int_not_equal(second, host.word[1]);
	/* its lines are elsewhere */
	config.part[3] = AT_NAME + 8;
	walk_list();
	second = host.word[1];
	HEAP_WORD(CODE(1) + AT_NAME + 8) = HEAP;
	walk_list();
	assert_int_not_equal(second, host.word[1]);
}

/* The base frame of CPython 3.15 is such a border. */
static void test_list__a_border_elsewhere(void **state)
{
	(void)state;
	node(0, 1, 10, NODE(1));
	node_at(heap_word(NODE(1)), CODE(0), 0, KIND_BORDER, 0);
	assert_int_equal(walk_list(), 3);
	assert_int_equal(host.word[2], BORDER(RUNTIME_BORDER_NOWHERE));
}

static void test_list__a_border_without_frames(void **state)
{
	(void)state;
	node_at(heap_word(NODE(0)), CODE(0), 0, KIND_BORDER, 0);
	assert_int_equal(walk_list(), 0);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
}

static void test_list__anchors_in_a_list(void **state)
{
	(void)state;
	config.flags = RUNTIME_ANCHOR_LIST | RUNTIME_BORDER_SHOW;
	config.border_mask = config.border_value = 0;
	config.root[0] = (struct runtime_root){
		.start = RUNTIME_AT_THREAD, .steps = 3, .offset = {-8, 24, 16}};
	config.anchor_previous = 8;
	HEAP_WORD(HEAP + 0x218) = SP + 64 + 24;
	WORD(SP + 64 + 40) = NODE(0);
	WORD(SP + 64 + 32) = HEAP; /* the last one, in no frame */
	node(0, 1, 10, NODE(1));
	node(1, 2, 20, 0);
	assert_int_equal(walk_list(), 6);
	assert_int_equal(host.word[2], BORDER(1));
	assert_int_equal(host.word[5], BORDER(RUNTIME_BORDER_NOWHERE));
}

#define GENERATOR(n)   (HEAP + 0x1800 + (n)*0x80ull)
#define PLACEHOLDER(n) (GENERATOR(n) + 24)

static void generator_node(u32 number, u64 previous)
{
	node(number, number + 1, 0, previous);
	HEAP_WORD(NODE(number) + 32) = GENERATOR(number);
	HEAP_WORD(GENERATOR(number)) = NODE(number);
	HEAP_WORD(GENERATOR(number) + 8) = 1;
	HEAP_WORD(GENERATOR(number) + 16) = GENERATOR(number + 1);
}

/* Each of three generators waits for the one before. Frame 3 made the outermost one go on. */
static void make_generators(void)
{
	config.flags = RUNTIME_OWNED;
	config.border_mask = 0;
	config.border_value = 1;
	config.node_bytes = 48;
	config.shown = 32;
	config.owner = (struct runtime_owner){.pointer = 56,
					      .object = 40,
					      .placeholder = 24,
					      .frame = 0,
					      .waiting_count = 8,
					      .waiting = 16};
	generator_node(0, PLACEHOLDER(2));
	generator_node(1, 0x77);
	generator_node(2, 0x77);
	HEAP_WORD(PLACEHOLDER(2) + AT_PREVIOUS) = NODE(3);
	HEAP_WORD(PLACEHOLDER(2) + 40) = GENERATOR(2);
	node(3, 4, 0, 0);
}

static void test_list__generators_that_wait(void **state)
{
	(void)state;
	make_generators();
	assert_int_equal(walk_list(), 8);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(host.word[2 * i], FRAME(CODE(i + 1)));
}

/* Several that wait for one are in a table. A frame of the runtime's own may have any object. */
static void test_list__generators_that_are_left_out(void **state)
{
	(void)state;
	make_generators();
	HEAP_WORD(GENERATOR(0) + 8) = 2;
	assert_int_equal(walk_list(), 4);
	assert_int_equal(host.word[0], FRAME(CODE(1)));
	assert_int_equal(host.word[2], FRAME(CODE(4)));
	HEAP_WORD(GENERATOR(0) + 8) = 1;
	HEAP_WORD(GENERATOR(1) + 8) = 0;
	assert_int_equal(walk_list(), 6);
	assert_int_equal(host.word[4], FRAME(CODE(4)));
	make_generators();
	HEAP_WORD(PLACEHOLDER(2) + 40) = GENERATOR(1);
	assert_int_equal(walk_list(), 4);
	assert_int_equal(host.word[2], FRAME(CODE(4)));
}

/* A list that leads back to itself ends. */
static void test_list__generators_in_a_circle(void **state)
{
	(void)state;
	make_generators();
	HEAP_WORD(GENERATOR(1) + 16) = GENERATOR(0);
	walk_list();
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_DEPTH);
}

#define FAR (HEAP + 0x1a00) /* an instruction */

/* Walks a frame at an instruction so far behind the first one, which is in no memory. */
static u64 place_of(u64 offset)
{
	HEAP_WORD(CODE(1) + FIRST_AT) = FAR - offset;
	assert_int_equal(walk_list(), 2);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	return OFFSET(host.word[1]);
}

/* An event tells of the lines of the first instructions. Others have their lines themselves. */
static void test_list__lines_of_far_instructions(void **state)
{
	const u64 far = CODE_LAST_BYTES;

	(void)state;
	make_generators();
	config.flags |= RUNTIME_POINTED;
	config.part[3] = FIRST_AT;
	config.owner.line = 28;
	node(0, 1, 0, 0);
	HEAP_WORD(NODE(0) + AT_PLACE) = FAR;
	HEAP_WORD(FAR + 24) = 777ull << 32 | 5;
	assert_int_equal(place_of(far), 777 << RUNTIME_PLACE_SHIFT | RUNTIME_PLACE_LINE);
	assert_int_equal(place_of(far - 32), far - 32);
	assert_int_equal(place_of(far + 8), far + 8); /* no instruction begins there */
	assert_int_equal(place_of(1ull << 30), 1ull << 30);
	assert_int_equal(place_of(1ull << 32), RUNTIME_OFFSET_NONE);
	config.owner.line = 24;
	assert_int_equal(place_of(far), 5 << RUNTIME_PLACE_SHIFT | RUNTIME_PLACE_LINE);
	HEAP_WORD(FAR + 24) = 0;
	assert_int_equal(place_of(far), far);
	HEAP_WORD(FAR + 24) = 1u << 30;
	assert_int_equal(place_of(far), far);
	HEAP_WORD(NODE(0) + AT_PLACE) = HEAP + sizeof(heap);
	HEAP_WORD(CODE(1) + FIRST_AT) = HEAP + sizeof(heap) - far;
	walk_list();
	assert_int_equal(OFFSET(host.word[1]), far);
	HEAP_WORD(NODE(0) + AT_PLACE) = FAR;
	HEAP_WORD(FAR + 24) = 5;
	config.owner.line = 0;
	assert_int_equal(place_of(far), far);
}

/* The worker ties such a list to the stack. */
static void test_list__no_borders(void **state)
{
	(void)state;
	config.flags = RUNTIME_INDEX;
	config.border_mask = 0;
	config.border_value = 1;
	node(0, 1, 0, NODE(1));
	HEAP_WORD(NODE(0) + AT_PLACE) = 0xbad00000007ull;
	node(1, 2, 0, NODE(2));
	node(2, 3, 0, 0);
	assert_int_equal(walk_list(), 6);
	assert_int_equal(host.word[0], FRAME(CODE(1)));
	assert_int_equal(OFFSET(host.word[1]), 7);
	assert_int_equal(host.word[2], FRAME(CODE(2)));
	assert_int_equal(host.word[4], FRAME(CODE(3)));
	HEAP_WORD(NODE(0) + AT_PLACE) = 0xffffffffull;
	assert_int_equal(walk_list(), 6);
	assert_int_equal(OFFSET(host.word[1]), RUNTIME_OFFSET_NONE);
	assert_int_equal(host.word[1] >> 63, 0);
}

/* A thread's own copy of the instructions; a copy that is not there leaves the place unknown. */
static void test_list__copies_of_instructions(void **state)
{
	(void)state;
	config.flags |= RUNTIME_COPIES;
	config.copies = 48;
	config.copy = AT_KIND + 4;
	HEAP_WORD(CODE(1) + 48) = CODE(4);
	HEAP_WORD(CODE(4) + 8 + 2 * 8) = CODE(5);
	node(0, 1, 10, NODE(1));
	node(1, 1, 0, NODE(2));
	HEAP_WORD(NODE(1) + AT_PLACE) = CODE(5) + 20;
	HEAP_WORD(NODE(1) + AT_KIND) |= 2ull << 32;
	node(2, 2, 30, 0);
	HEAP_WORD(NODE(2) + AT_KIND) |= 2ull << 32;
	assert_int_equal(walk_list(), 6);
	assert_int_equal(OFFSET(host.word[1]), 10);
	assert_int_equal(host.word[2], FRAME(CODE(1)));
	assert_int_equal(OFFSET(host.word[3]), 20);
	assert_int_equal(host.word[4], FRAME(CODE(2)));
	assert_int_equal(OFFSET(host.word[5]), RUNTIME_OFFSET_NONE);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
}

/* The window has the memory below a frame, unless frames are not side by side. */
static void test_list__frames_apart(void **state)
{
	(void)state;
	node(0, 1, 0, 0);
	walk_list();
	assert_int_equal(host.walk.window_start, HEAP);
	config.flags |= RUNTIME_APART;
	walk_list();
	assert_int_equal(host.walk.window_start, NODE(0));
	assert_int_equal(host.walk.window_bytes, config.node_bytes);
}

/* Behind many frames of the interpreter the list gets a part of the time. */
/* Returns the deadline after many marks. */
static u64 mark_many(u64 now, u64 deadline)
{
	walk_init(&host.walk);
	host.walk.frames = 1;
	host.walk.deadline = deadline;
	host.clock = host.walk.looked = now;
	for (u32 i = 1; i < RUNTIME_MARKS_MANY; i++)
		runtime_mark(SP + 8 * i, scene.pc);
	assert_int_equal(host.walk.deadline, deadline);
	runtime_mark(SP + 8 * RUNTIME_MARKS_MANY, scene.pc);
	deadline = host.walk.deadline;
	runtime_mark(SP + 8 * RUNTIME_MARKS_MANY + 8, scene.pc);
	assert_int_equal(host.walk.deadline, deadline);
	return deadline;
}

static void test_list__has_time_of_its_own(void **state)
{
	const u64 now = WALK_EXTENSIONS * WALK_EXTEND_EVERY_NS;

	(void)state;
	host.list_time = 3000;
	assert_int_equal(mark_many(now, now + 1000), now - 2000);
	runtime_begin();
	assert_int_equal(host.walk.deadline, now + 1000);

	/* a walk that is extended leaves half as much again, of the extension */
	assert_int_equal(mark_many(now, now + 1000), now - 2000);
	host.walk.extension = 5000;
	assert_int_equal(walk_late(), 0);
	assert_int_equal(host.walk.deadline, now + 3000 - 1500);
	runtime_begin();
	assert_int_equal(host.walk.deadline, now + 1000 + 5000);
	assert_int_equal(mark_many(now, now + 1000), now - 2000);
	host.walk.extension = 1000;
	walk_late();
	runtime_begin();
	assert_int_equal(host.walk.deadline, now + 1000 + 1000);

	/* some of the extensions are for lists alone */
	assert_int_equal(mark_many(now, now + 1000), now - 2000);
	host.walk.extension = 5000;
	host.walk.extended_at = now - 2 * WALK_EXTEND_EVERY_NS;
	assert_int_equal(walk_late(), 1);
	host.walk.list.on = 1;
	assert_int_equal(walk_late(), 0);
	assert_int_equal(host.walk.deadline, now + 3000 - 1500);

	host.list_time = 0;
	assert_int_equal(mark_many(now, now + 1000), now + 1000);
}

/* A list without borders may come before the stack, whose walk then begins. */
static void test_list__before_the_stack(void **state)
{
	(void)state;
	config.flags = RUNTIME_APART;
	config.border_mask = 0;
	config.border_value = 1;
	node(0, 1, 10, NODE(1));
	node(1, 2, 20, 0);
	assert_int_equal(walk_list(), 4);
	assert_true(runtime_may_be_first(&host.walk.list));
	assert_int_equal(runtime_begin(), 0);
	host.walk.is_list_first = 1;
	host.walk.deadline = 1000;
	host.walk.reserved = 100;
	host.walk.frames = host.walk.marks = 0;
	while (host.walk.list.on)
		assert_int_equal(walk_step(), 0);
	assert_int_equal(host.walk.list.result, RUNTIME_WHOLE);
	assert_int_equal(host.walk.before, 4);
	assert_int_equal(host.walk.deadline, 1100);
	assert_int_equal(host.walk.frames, 0);
	/* marks reserve no time for a list that is taken */
	host.list_time = 300;
	host.walk.frames = 1;
	for (u32 i = 0; i < RUNTIME_MARKS_MANY; i++)
		runtime_mark(SP + 8 * i, scene.pc);
	assert_int_equal(host.walk.deadline, 1100);
	host.list_time = 0;
	config.flags = RUNTIME_ANCHOR_NODE;
	walk_list();
	assert_false(runtime_may_be_first(&host.walk.list));
}

/* A list that leads back needs no further read, and comes to its end in time all the same. */
static void test_list__cycle_takes_time(void **state)
{
	(void)state;
	node(0, 1, 10, NODE(1));
	node(1, 2, 20, NODE(0));
	HEAP_WORD(HEAP + 0x210) = NODE(1); /* one read gets both */
	publish_config();
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2), RETURN(3));
	host.clock_step = 1;
	host.walk.deadline = host.clock + 4; /* looks */
	assert_true(take_list() > 0);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_BUDGET);
	assert_in_range(host.walk.list.words, 2, 8 * WALK_CLOCK_FRAMES * RUNTIME_FRAMES_STEP);
}

static void test_list__roots(void **state)
{
	const u64 key = SCENE_TEXT - SCENE_BIAS + 0x1800, place = key + SCENE_BIAS;

	(void)state;
	node(0, 1, 10, 0);
	config.root[1] = config.root[0];
	config.root[0] = (struct runtime_root){
		.start = RUNTIME_AT_KEY, .pc = key + 4, .steps = 2, .offset = {0, 16}};
	memcpy(scene_code(place), &(u64){3ull << 32}, 8);
	HEAP_WORD(THREAD + 0x318 + 3 * 16) = HEAP + 0x200;
	HEAP_WORD(THREAD - 8) = 0;
	assert_int_equal(walk_list(), 2);
	/* the second root, where the first one is 0 */
	HEAP_WORD(THREAD + 0x318 + 3 * 16) = 0;
	HEAP_WORD(THREAD - 8) = HEAP + 0x200;
	assert_int_equal(walk_list(), 2);
	HEAP_WORD(THREAD - 8) = 0;
	assert_int_equal(walk_list(), 0);
	assert_int_equal(host.walk.list.result, RUNTIME_NO_ROOT);
	config.root[0].start = RUNTIME_AT_KEY_MUSL;
	HEAP_WORD(THREAD + 0x80) = HEAP + 0x300;
	HEAP_WORD(HEAP + 0x300 + 3 * 8) = HEAP + 0x200;
	assert_int_equal(walk_list(), 2);
	/* module 3 at offset 8, behind the table of modules */
	config.root[0] = (struct runtime_root){
		.start = RUNTIME_AT_MODULE, .pc = key, .steps = 2, .offset = {16, 16}};
	memcpy(scene_code(place), (u64[]){3, 8}, 16);
	HEAP_WORD(THREAD + 8) = HEAP + 0x380;
	HEAP_WORD(HEAP + 0x380 + 3 * 16) = HEAP + 0x20;
	HEAP_WORD(HEAP + 0x20 + 8 + 16) = HEAP + 0x200;
	assert_int_equal(walk_list(), 2);
	config.root[0].start = RUNTIME_AT_MODULE_MUSL;
	assert_int_equal(walk_list(), 0);
	HEAP_WORD(HEAP + 0x380 + 3 * 8) = HEAP + 0x20;
	assert_int_equal(walk_list(), 2);
}

/* The keys behind the first 32 have blocks of their own. */
static void test_list__keys_in_blocks(void **state)
{
	const u64 key = SCENE_TEXT - SCENE_BIAS + 0x1800, place = key + SCENE_BIAS;

	(void)state;
	node(0, 1, 10, 0);
	config.root[0] = (struct runtime_root){
		.start = RUNTIME_AT_KEY, .pc = key, .steps = 2, .offset = {0, 16}};
	HEAP_WORD(THREAD + 0x510 + 2 * 8) = HEAP + 0x700;
	HEAP_WORD(HEAP + 0x700 + 5 * 16 + 8) = HEAP + 0x200;
	memcpy(scene_code(place), &(u64){2 * 32 + 5}, 8);
	assert_int_equal(walk_list(), 2);
	memcpy(scene_code(place), &(u64){3 * 32 + 5}, 8);
	assert_int_equal(walk_list(), 0);
	HEAP_WORD(THREAD + 0x510 + 32 * 8) = HEAP + 0x700;
	memcpy(scene_code(place), &(u64){32 * 32 + 5}, 8);
	assert_int_equal(walk_list(), 0);
}

/* The first root counts where this thread holds the lock. */
static void test_list__holder(void **state)
{
	const u64 word = SCENE_TEXT - SCENE_BIAS + 0x1800, place = word + SCENE_BIAS;

	(void)state;
	config.root[1] = config.root[0];
	config.root[0] = (struct runtime_root){
		.start = RUNTIME_AT_HOLDER, .pc = word, .steps = 1, .offset = {16}};
	config.holder = 24;
	memcpy(scene_code(place), &(u64){HEAP + 0x300}, 8);
	HEAP_WORD(HEAP + 0x310) = NODE(1);
	HEAP_WORD(HEAP + 0x318) = THREAD;
	node(0, 1, 10, 0);
	node(1, 2, 20, 0);
	assert_int_equal(walk_list(), 2);
	assert_int_equal(host.word[0], FRAME(CODE(2)));
	HEAP_WORD(HEAP + 0x318) = THREAD + 0x1000;
	assert_int_equal(walk_list(), 2);
	assert_int_equal(host.word[0], FRAME(CODE(1)));
	memcpy(scene_code(place), &(u64){0}, 8);
	assert_int_equal(walk_list(), 2);
	assert_int_equal(host.word[0], FRAME(CODE(1)));
}

static void test_list__descriptors(void **state)
{
	const u64 pair = SCENE_TEXT - SCENE_BIAS + 0x1800, place = pair + SCENE_BIAS;

	(void)state;
	node(0, 1, 10, 0);
	config.root[0] = (struct runtime_root){
		.start = RUNTIME_AT_DESCRIPTOR, .pc = pair, .steps = 2, .offset = {8, 16}};
	/* an offset */
	memcpy(scene_code(place), (u64[]){0x1234, -0x40ull}, 16);
	HEAP_WORD(THREAD - 0x40 + 8) = HEAP + 0x200;
	assert_int_equal(walk_list(), 2);
	/* module 3 at offset 24 */
	memcpy(scene_code(place), (u64[]){0x1234, HEAP + 0x300}, 16);
	HEAP_WORD(HEAP + 0x300) = 3;
	HEAP_WORD(HEAP + 0x308) = 24;
	HEAP_WORD(THREAD + 8) = HEAP + 0x380;
	HEAP_WORD(HEAP + 0x380 + 3 * 16) = HEAP + 0x20;
	HEAP_WORD(HEAP + 0x20 + 24 + 8) = HEAP + 0x200;
	assert_int_equal(walk_list(), 2);
	config.root[0].start = RUNTIME_AT_DESCRIPTOR_MUSL;
	assert_int_equal(walk_list(), 0);
	HEAP_WORD(HEAP + 0x380 + 3 * 8) = HEAP + 0x20;
	assert_int_equal(walk_list(), 2);
}

/* Buffers have words of an earlier walk behind that which is read: perhaps of another process. */
static void test_list__no_field_outside_of_what_is_read(void **state)
{
	u16 *const of_frames[] = {&config.previous, &config.code, &config.instruction,
				  &config.border, &config.copy};
	u16 *const of_code[] = {&config.name, &config.fingerprint[3], &config.part[2]};

	(void)state;
	config.flags |= RUNTIME_COPIES;
	node(0, 1, 10, 0);
	for (u32 i = 0; i < 5; i++) {
		const u16 kept = *of_frames[i];

		*of_frames[i] = config.node_bytes;
		assert_int_equal(walk_list(), 0);
		assert_int_equal(host.walk.list.result, RUNTIME_NONE_MET);
		*of_frames[i] = config.node_bytes - 4;
		walk_list();
		assert_int_not_equal(host.walk.list.result, RUNTIME_NONE_MET);
		*of_frames[i] = kept;
	}
	for (u32 i = 0; i < 3; i++) {
		const u16 kept = *of_code[i];

		*of_code[i] = RUNTIME_MEMORY_WORDS * 8 - 7;
		assert_int_equal(walk_list(), 0);
		*of_code[i] = RUNTIME_MEMORY_WORDS * 8 - 8;
		assert_int_equal(walk_list(), 2);
		*of_code[i] = kept;
	}
	config.node_bytes = RUNTIME_NODE_BYTES + 8;
	assert_int_equal(walk_list(), 0);
}

static void test_list__damage(void **state)
{
	(void)state;
	node(0, 1, 10, NODE(0)); /* a circle */
	assert_int_equal(walk_list(), RECORD_RUNTIME_WORDS_MAX - 2);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_DEPTH);
	node(0, 1, 10, 0x123456789000);
	assert_int_equal(walk_list(), 2);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_READ);
	node(0, 1, 10, NODE(1) + 4);
	assert_int_equal(walk_list(), 2);
	assert_int_equal(host.walk.list.result, RUNTIME_CUT_READ);
	config.node_bytes = 0xffff;
	config.code = config.name = 0xfff8;
	config.root[0].steps = 77;
	walk_list();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_list__frames_between_borders, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__fingerprints_tell_functions_apart, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__generators_that_wait, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__generators_that_are_left_out, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__generators_in_a_circle, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__a_border_elsewhere, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__a_border_without_frames, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__anchors_in_a_list, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__lines_of_far_instructions, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__no_borders, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__copies_of_instructions, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__frames_apart, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__has_time_of_its_own, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__before_the_stack, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__roots, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__no_field_outside_of_what_is_read, setup,
						scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__keys_in_blocks, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__holder, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__descriptors, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__damage, setup, scene_teardown),
		cmocka_unit_test_setup_teardown(test_list__cycle_takes_time, setup, scene_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

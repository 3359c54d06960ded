/* SPDX-License-Identifier: Apache-2.0 */
/* Code that no unwind information describes: which way out is proven, and which is a guess. */
#include "tests/bpf/scene.h"

#define SP	 (scene.reg[REG_RSP])
#define BP	 (scene.reg[REG_RBP])
#define GUESS(a) ((a) | FRAME_GUESSED)

/* A frame-pointer frame at `at`: its caller's rbp and return address. */
static void frame(u64 at, u64 saved, u64 return_address)
{
	WORD(at) = saved;
	WORD(at + 8) = return_address;
}

/* Makes the call in front of RETURN(n) a direct one of the target. */
static void call(u32 n, u64 target)
{
	u32 offset = (u32)(target - RETURN(n));

	memcpy(scene_code(RETURN(n) - 4), &offset, sizeof(offset));
}

/* Writes code to the address. */
static void code(u64 address, const char *bytes, size_t size)
{
	memcpy(scene_code(address), bytes, size);
}
#define CODE(address, text) code(address, text, sizeof(text) - 1)

static void test_fallback__chain_ends_with_zero(void **state)
{
	(void)state;
	BP = SP + 64;
	frame(SP + 64, SP + 128, RETURN(1));
	frame(SP + 128, SP + 800, RETURN(2));
	frame(SP + 800, 0, RETURN(3));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1), RETURN(2), RETURN(3));
	assert_int_equal(host.walk.fallbacks, 4);
}

static void test_fallback__chain_ends_with_two_zeros(void **state)
{
	(void)state;
	BP = SP + 64;
	frame(SP + 64, SP + 128, RETURN(1));
	frame(SP + 128, 0, 0);
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1));
}

/* The rules of this code have no room. The walk tries nothing else. */
static void test_fallback__no_room_for_the_table(void **state)
{
	(void)state;
	scene.mapping.flags = MAPPING_NO_ROOM;
	EXPECT(cut_no_room, EXACT(scene.pc));
}

/* The function has pushed rbp and moved rsp to rbp a moment ago. */
static void test_fallback__frame_at_the_stack_pointer(void **state)
{
	(void)state;
	BP = SP;
	frame(SP, 0, RETURN(1));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1));
}

static void bad_frame_pointer(void **state, u64 bp, u64 saved, u64 return_address)
{
	scene_setup(state);
	BP = bp;
	frame(SP + 64, saved, return_address);
	EXPECT(cut_no_rule, EXACT(scene.pc));
	scene_teardown(state);
}

static void test_fallback__garbage_in_rbp(void **state)
{
	u64 sp = SCENE_STACK + 0x4000, good = sp + 64;

	bad_frame_pointer(state, 0, 0, RETURN(1));
	bad_frame_pointer(state, 0x12345, 0, RETURN(1));
	bad_frame_pointer(state, sp - 16, 0, RETURN(1));
	bad_frame_pointer(state, good + 1, 0, RETURN(1));
	bad_frame_pointer(state, good + 4, 0, RETURN(1));
	bad_frame_pointer(state, SCENE_STACK_END - 8, 0, RETURN(1));
	bad_frame_pointer(state, sp + WALK_REACH, 0, RETURN(1));
	bad_frame_pointer(state, ~0ull - 7, 0, RETURN(1));
	bad_frame_pointer(state, RETURN(1), 0, RETURN(1));
	/* the link does not rise */
	bad_frame_pointer(state, good, good, RETURN(1));
	bad_frame_pointer(state, good, good - 16, RETURN(1));
	bad_frame_pointer(state, good, 1, RETURN(1));
	/* not a return address */
	bad_frame_pointer(state, good, good + 64, 0);
	bad_frame_pointer(state, good, good + 64, 5);
	bad_frame_pointer(state, good, good + 64, FUNCTION(1) + 0x80);
	bad_frame_pointer(state, good, good + 64, SCENE_TEXT_END + 64);
	bad_frame_pointer(state, good, good + 64, 0xffffffff81000000ull);
	bad_frame_pointer(state, good, 0, good);
}

/* CPython's trampolines for perf: code at run time, whose callers use rbp for anything. */
static void test_fallback__the_last_instructions_of_a_frame(void **state)
{
	(void)state;
	BP = 0x12345;
	/* add $24,%rsp; ret */
	CODE(scene.pc, "\x48\x83\xc4\x18\xc3");
	WORD(SP + 24) = RETURN(1);
	/* pop %rbp; ret */
	CODE(RETURN(1), "\x5d\xc3");
	WORD(SP + 32) = SP + 80;
	WORD(SP + 40) = RETURN(2);
	frame(SP + 80, 0, RETURN(3));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1), RETURN(2), RETURN(3));
	/* no return address */
	WORD(SP + 40) = SP;
	EXPECT(cut_not_a_call, EXACT(scene.pc), RETURN(1));
	/* the end of the stack */
	CODE(scene.pc, "\x48\x83\xc4\x78\xc3");
	SP = SCENE_STACK_END - 0x78;
	EXPECT(cut_read, EXACT(scene.pc));
}

/* add $-8,%rsp; add $12,%rsp; the same without ret; pop %rbx; ret */
static void test_fallback__other_last_instructions(void **state)
{
	static const char *const others[] = {"\x48\x83\xc4\xf8\xc3", "\x48\x83\xc4\x0c\xc3",
					     "\x48\x83\xc4\x08\x90", "\x5b\xc3\x90\x90\x90"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		scene_setup(state);
		BP = 0x12345;
		code(scene.pc, others[i], 5);
		WORD(SP + 8) = WORD(SP - 8) = RETURN(1);
		EXPECT(cut_no_rule, EXACT(scene.pc));
		scene_teardown(state);
	}
}

/* A leaf that has no frame: rbp is its caller's. */
static void test_fallback__leaf_that_is_called_directly(void **state)
{
	(void)state;
	WORD(SP) = RETURN(1);
	call(1, FUNCTION(0));
	BP = SP + 64;
	frame(SP + 64, SP + 128, RETURN(2));
	frame(SP + 128, 0, RETURN(3));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1), RETURN(2), RETURN(3));
}

/* The instruction at the pc is a return. */
static void test_fallback__leaf_that_returns(void **state)
{
	(void)state;
	static const char *const returns[] = {"\xc3", "\xc2\x10", "\xf3\xc3"};

	for (u32 i = 0; i < sizeof(returns) / sizeof(returns[0]); i++) {
		scene_setup(state);
		code(scene.pc, returns[i], strlen(returns[i]));
		WORD(SP) = RETURN(1);
		BP = SP + 64;
		frame(SP + 64, 0, RETURN(2));
		EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1), RETURN(2));
		scene_teardown(state);
	}
}

static void test_fallback__leaf_at_the_beginning_of_a_frame(void **state)
{
	(void)state;
	static const char *const begins[] = {"\x55\x48\x89\xe5", "\x55\x48\x8b\xec",
					     "\xf3\x0f\x1e\xfa\x55\x48\x89\xe5"};

	for (u32 i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		scene_setup(state);
		code(scene.pc, begins[i], strlen(begins[i]));
		WORD(SP) = RETURN(1);
		BP = SP + 64;
		frame(SP + 64, 0, RETURN(2));
		EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1), RETURN(2));
		scene_teardown(state);
	}
}

/*
 * V8's functions load a flag, test the flag and jump on that before they push %rbp. HotSpot's do so
 * before they return.
 */
static void test_fallback__leaf_in_front_of_a_frame(void **state)
{
	(void)state;
	static const char begin[] = "\x48\x8b\x59\xf8\xf6\x43\x35\x01\x0f\x85\x32\x57\xe4\x1f"
				    "\x55\x48\x89\xe5";
	static const char wide[] = "\x8b\x59\xf8\xf7\x43\x35\x01\x02\x03\x04\x0f\x84\x32\x57\xe4"
				   "\x1f\x55\x48\x8b\xec";
	static const char poll[] =
		"\x49\x3b\xa7\x40\x03\x00\x00\x0f\x87\x15\x00\x00\x00\xc3\x90\x90\x90";
	static const char page[] = "\x4d\x8b\x57\x70\x41\x85\x02\xc3\x90\x90\x90";
	static const struct {
		const char *code;
		u32 bytes, at;
	} begins[] = {{begin, 18, 0}, {begin, 18, 4}, {begin, 18, 8}, {wide, 20, 0}, {wide, 20, 3},
		      {wide, 20, 10}, {poll, 17, 0},  {poll, 17, 7},  {page, 11, 0}, {page, 11, 4}};

	for (u32 i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		scene_setup(state);
		scene.pc = FUNCTION(3) + 0x80;
		code(scene.pc - begins[i].at, begins[i].code, begins[i].bytes);
		WORD(SP) = RETURN(1);
		BP = SP + 64;
		frame(SP + 64, 0, RETURN(2));
		EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1), RETURN(2));
		code(scene.pc - begins[i].at + begins[i].bytes - 4, "\x90", 1);
		EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(2)));
		scene_teardown(state);
	}
}

/* The frame was given up by the instruction before. */
static void test_fallback__leaf_behind_a_frame(void **state)
{
	(void)state;
	static const char *const ends[] = {"\x90\x48\x8b\xe5\x5d", "\x90\x48\x89\xec\x5d",
					   "\x48\x83\xc4\x10\x5d"};

	for (u32 i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		scene_setup(state);
		code(scene.pc - 5, ends[i], 5);
		WORD(SP) = RETURN(1);
		BP = SP + 64;
		frame(SP + 64, 0, RETURN(2));
		EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1), RETURN(2));
		scene_teardown(state);
	}
}

static void test_fallback__leaf_behind_its_push(void **state)
{
	(void)state;
	CODE(scene.pc - 1, "\x55\x48\x89\xe5");
	BP = SP + 64;
	WORD(SP) = BP;
	WORD(SP + 8) = RETURN(1);
	frame(SP + 64, 0, RETURN(2));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1), RETURN(2));
}

/* The word at rsp is as good as the frame pointer: an old word, or a leaf without a frame. */
static void test_fallback__two_ways_out_of_a_leaf(void **state)
{
	(void)state;
	WORD(SP) = RETURN(1);
	BP = SP + 64;
	frame(SP + 64, SP + 128, RETURN(2));
	frame(SP + 128, 0, RETURN(3));
	EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(2)), RETURN(3));
}

/* Walks, and returns whether the guess follows the frame pointer of code that may have a frame. */
static bool guesses_by_pointer(void)
{
	EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(2)));
	return host.frame[1] & FRAME_BY_POINTER;
}

/* A frame with an old word, which may be a return address as well. */
static void make_two_ways(u64 old)
{
	BP = SP + 64;
	frame(SP + 64, 0, RETURN(2));
	WORD(old) = RETURN(1);
}

static void test_fallback__guess_by_the_frame_pointer(void **state)
{
	(void)state;
	make_two_ways(SP + 24);
	assert_true(guesses_by_pointer());
	make_two_ways(SP); /* a leaf without a frame has its return address there */
	assert_false(guesses_by_pointer());
}

/* V8's functions drop their arguments with the return address in a register. */
static void test_fallback__guess_while_the_return_address_moves(void **state)
{
	(void)state;
	make_two_ways(SP + 24);
	CODE(scene.pc - 2, "\x41\x5a");
	assert_false(guesses_by_pointer());
	CODE(scene.pc - 6, "\x41\x5a\x48\x8d\x24\xcc");
	assert_false(guesses_by_pointer());
}

/* The call in front of the word leads to other code. */
static void test_fallback__stale_word_in_code_made_at_run_time(void **state)
{
	(void)state;
	scene.mapping.flags = 0;
	WORD(SP) = RETURN(1);
	call(1, FUNCTION(5));
	BP = SP + 64;
	frame(SP + 64, SP + 128, RETURN(2));
	frame(SP + 128, 0, RETURN(3));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(2), RETURN(3));
}

/* Functions with rules jump on to code by hand: their callers may be its callers. */
static void test_fallback__tail_call_from_code_with_rules(void **state)
{
	(void)state;
	WORD(SP) = RETURN(1);
	call(1, FUNCTION(5));
	scene.rule[5] = RULE_LAST;
	BP = SP + 64;
	frame(SP + 64, 0, RETURN(2));
	EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(2)));
}

/* The call behind the frame pointer leads to the function whose call is at rsp. */
static void test_fallback__frame_pointer_of_a_caller(void **state)
{
	(void)state;
	WORD(SP) = RETURN(1);
	BP = SP + 64;
	frame(SP + 64, 0, RETURN(2));
	call(2, FUNCTION(1));
	scene.rule[1] = RULE(SP, 0, 0, 72);
	scene.rule[2] = RULE_LAST;
	EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(1)), RETURN(2));
}

/* Other code than the called function would have a return address into the function. */
static void test_fallback__call_proves_the_frame_pointer(void **state)
{
	(void)state;
	scene.pc = FUNCTION(5) + 0x20;
	WORD(SP) = RETURN(1);
	WORD(SP + 24) = RETURN(4);
	BP = SP + 64;
	frame(SP + 64, 0, RETURN(2));
	call(2, FUNCTION(5));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(2));
	/* an old word of the function, which calls itself */
	WORD(SP) = 0;
	WORD(SP + 24) = RETURN(5);
	call(5, FUNCTION(5));
	scene.pc = FUNCTION(5) + 0x80;
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(2));
}

/* The called function may have called the code by a register. */
static void test_fallback__called_function_may_have_called_on(void **state)
{
	(void)state;
	BP = SP + 64;
	frame(SP + 64, 0, RETURN(2));
	call(2, FUNCTION(0));
	for (u32 at = 0; at < 64; at += 8) {
		WORD(SP + at) = RETURN(1);
		EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(2)));
		WORD(SP + at) = 0;
	}
	/* too far behind its beginning */
	WORD(SP + 8) = RETURN(FALLBACK_CALLER / 256);
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(2));
}

/* The function that the call leads to pushes first: in its body, rsp points elsewhere. */
static void test_fallback__old_word_of_a_function_with_a_frame(void **state)
{
	(void)state;
	static const char *const frames[] = {
		"\x55\x48\x89\xe5", "\x41\x57\x41\x56",		"\x48\x83\xec\x28",
		"\x48\x81\xec\x28", "\xf3\x0f\x1e\xfa\x55\x48", "\x89\x84\x24\x01\xc0\xfe\xff\x55"};

	for (u32 i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		scene_setup(state);
		code(FUNCTION(0), frames[i], strlen(frames[i]));
		WORD(SP) = RETURN(1);
		call(1, FUNCTION(0));
		BP = SP + 64;
		frame(SP + 64, 0, RETURN(2));
		EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(2)));
		scene_teardown(state);
	}
	CODE(FUNCTION(0), "\x55\x90");
	scene.pc = FUNCTION(0);
	WORD(SP) = RETURN(1);
	call(1, FUNCTION(0));
	BP = SP + 64;
	frame(SP + 64, 0, RETURN(2));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1), RETURN(2));
}

/* Both calls lead to code before the address: the nearer function has the address. */
static void test_fallback__nearer_function(void **state)
{
	(void)state;
	scene.pc = FUNCTION(5) + 0x20;
	WORD(SP) = RETURN(1);
	call(1, FUNCTION(4));
	BP = SP + 64;
	frame(SP + 64, 0, RETURN(2));
	call(2, FUNCTION(5));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(2));
	call(1, FUNCTION(5));
	call(2, FUNCTION(4));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1), RETURN(2));
}

/* A buffer of zeros, to which rbp points, is no root if the frame has another way out. */
static void test_fallback__zeros_that_are_no_root(void **state)
{
	(void)state;
	WORD(SP + 8) = RETURN(1);
	call(1, FUNCTION(0));
	BP = SP + 64;
	frame(SP + 64, 0, 0);
	EXPECT(cut_no_rule, EXACT(scene.pc));
}

/* The code of a return is the way out, whoever is there. */
static void test_fallback__return_to_unknown_code(void **state)
{
	(void)state;
	CODE(scene.pc, "\xc3");
	WORD(SP) = SCENE_TEXT_END + 0x1000;
	BP = SP + 64;
	frame(SP + 64, 0, RETURN(2));
	EXPECT(cut_not_a_call, EXACT(scene.pc));
}

/* A thread's stack may lie right below text: no distance tells an address of code. */
static void test_fallback__text_right_above_the_stack(void **state)
{
	(void)state;
	const u64 words = SP, stack = SCENE_TEXT - sizeof(scene.stack);

	host.region[1].start = stack;
	SP = stack + (words - SCENE_STACK);
	BP = SP + 64;
	frame(words + 64, 0, RETURN(2));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(2));
	WORD(words + 16) = RETURN(1);
	EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(2)));
}

/* Text that cannot be read may hold a call. The kernel is not asked: the walk does not go there. */
static void test_fallback__unreadable_text_in_the_frame(void **state)
{
	(void)state;
	scene.mapping.flags = 0;
	host.region[0].bytes = RETURN(8) - SCENE_TEXT;
	WORD(SP + 16) = RETURN(8) + 8;
	BP = SP + 64;
	frame(SP + 64, 0, RETURN(2));
	EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(2)));
	WORD(SP + 16) = 0;
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(2));
}

static void test_fallback__stubs_lead_anywhere(void **state)
{
	(void)state;
	static const char *const stubs[] = {"\xe9",
					    "\xeb",
					    "\x68",
					    "\xff\x25",
					    "\xff\xe0",
					    "\xf2\xff\x25",
					    "\xf3\x0f\x1e\xfa\xff\x25",
					    "\x49\xbb",
					    "\x48\xb8"};

	for (u32 i = 0; i < sizeof(stubs) / sizeof(stubs[0]); i++) {
		scene_setup(state);
		scene.mapping.flags = 0;
		code(FUNCTION(5), stubs[i], strlen(stubs[i]));
		WORD(SP + 16) = RETURN(1);
		call(1, FUNCTION(5));
		BP = SP + 64;
		frame(SP + 64, 0, RETURN(2));
		EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(2)));
		scene_teardown(state);
	}
}

static void test_fallback__frame_with_another_return_address(void **state)
{
	(void)state;
	for (u32 at = 0; at < 64; at += 8) {
		scene_setup(state);
		WORD(SP + at) = RETURN(1);
		BP = SP + 64;
		frame(SP + 64, 0, RETURN(2));
		EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(2)));
		scene_teardown(state);
	}
}

static void test_fallback__frame_too_large_to_look_through(void **state)
{
	(void)state;
	BP = SP + 8 * FALLBACK_WORDS;
	frame(BP, 0, RETURN(1));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1));
	BP += 8;
	frame(BP, 0, RETURN(1));
	EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(1)));
}

/* Addresses of code that are behind no call. */
static void test_fallback__frame_with_too_many_words_to_look_up(void **state)
{
	(void)state;
	BP = SP + 8 * FALLBACK_WORDS;
	frame(BP, 0, RETURN(1));
	for (u32 i = 0; i < FALLBACK_CALLS; i++)
		WORD(SP + 16 * i) = FUNCTION(3);
	for (u32 i = FALLBACK_CALLS; i < FALLBACK_LOOKS; i++)
		WORD(SP + 16 * i) = SCENE_TEXT_END;
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1));
	WORD(SP + 8) = SCENE_TEXT_END;
	EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(1)));
	WORD(SP + 8) = WORD(SP + 16 * FALLBACK_CALLS) = 0;
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1));
	WORD(SP + 8) = FUNCTION(3);
	EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(1)));
}

/* HotSpot's interpreter pushes addresses of code; its compiled code pushes rbp below them. */
static void test_fallback__return_address_without_a_call(void **state)
{
	(void)state;
	scene.mapping.flags = 0;
	host.executable = SCENE_TEXT;
	host.executable_end = SCENE_TEXT_END;
	BP = SP + 64;
	frame(SP + 64, SP + 128, FUNCTION(1));
	frame(SP + 128, 0, RETURN(2));
	WORD(SP + 80) = FUNCTION(1);
	EXPECT(end_frame_pointer, EXACT(scene.pc), FUNCTION(1), RETURN(2));
	WORD(SP + 8) = FUNCTION(4);
	EXPECT(end_frame_pointer, EXACT(scene.pc), FUNCTION(1), RETURN(2));
	WORD(SP) = BP;
	EXPECT(guess_root, EXACT(scene.pc), GUESS(FUNCTION(1)), RETURN(2));
	scene.mapping.flags = MAPPING_HAS_TABLE;
	EXPECT(cut_no_rule, EXACT(scene.pc));
	host.executable = host.executable_end = 0;
}

/* Only a leaf's return address may lie at the stack pointer. */
static void test_fallback__no_leaf_above_the_leaf(void **state)
{
	(void)state;
	scene.rule[0] = RULE(SP, 0, 0, 8);
	WORD(SP) = RETURN(1);
	WORD(SP + 8) = RETURN(2);
	BP = SP + 64;
	frame(SP + 64, 0, RETURN(3));
	EXPECT(guess_root, EXACT(scene.pc), RETURN(1), GUESS(RETURN(3)));
}

static void test_fallback__misaligned_leaf_uses_the_frame_pointer(void **state)
{
	(void)state;
	BP = SP + 64;
	frame(SP + 64, 0, RETURN(1));
	SP += 4;
	EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(1)));
}

static void test_fallback__unreadable_leaf(void **state)
{
	(void)state;
	SP = SCENE_STACK_END;
	EXPECT(cut_no_rule, EXACT(scene.pc));
}

/* Callee-saved registers survive a leaf, so rules above the leaf still work. */
static void test_fallback__rules_above_a_leaf(void **state)
{
	(void)state;
	WORD(SP) = RETURN(1);
	scene.rule[1] = RULE(REG, REG_RBX, SLOT(0, 1), 16);
	scene.rule[2] = RULE_LAST;
	scene.reg[REG_RBX] = SP + 400;
	WORD(SP + 400) = 0xb1;
	WORD(SP + 408) = RETURN(2);
	EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(1)), RETURN(2));
	assert_int_equal(host.walk.reg[REG_RBP], 0xb1);
	call(1, FUNCTION(0));
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2));
}

/* Behind a frame pointer only rbp and rsp are known, until a rule restores more. */
static void test_fallback__rules_above_a_frame_pointer(void **state)
{
	(void)state;
	BP = SP + 64;
	frame(SP + 64, SP + 128, RETURN(1));
	scene.rule[1] = RULE(BP, 0, SLOT(0, 1), 16);
	scene.rule[2] = RULE(REG, REG_RBX, 0, 16);
	scene.reg[REG_RBX] = SP + 400;
	frame(SP + 128, 0xb1, RETURN(2));
	WORD(SP + 408) = RETURN(3);
	EXPECT(cut_unsupported, EXACT(scene.pc), RETURN(1), RETURN(2));
	scene.rule[1] = RULE(BP, 0, SLOT(0, 1) | SLOT(1, 2), 16);
	scene.rule[3] = RULE_LAST;
	WORD(SP + 120) = SP + 400;
	EXPECT(end_root, EXACT(scene.pc), RETURN(1), RETURN(2), RETURN(3));
	assert_int_equal(host.walk.reg[REG_RBP], 0xb1);
}

/* A zero ends a chain only as a link of a chain. */
static void test_fallback__zero_that_no_frame_saved(void **state)
{
	(void)state;
	BP = 0;
	scene.rule[0] = RULE(SP, 0, 0, 8);
	WORD(SP) = RETURN(1);
	EXPECT(cut_no_rule, EXACT(scene.pc), RETURN(1));
}

/* A C library without tables: main program with rules, _start has cleared rbp. */
static void test_fallback__library_without_tables_between_rules(void **state)
{
	(void)state;
	BP = SP + 64;
	frame(SP + 64, SP + 200, RETURN(10)); /* no rules: a library function with a frame */
	scene.rule[10] = RULE(BP, 0, SLOT(0, 1), 16);
	scene.rule[11] = RULE(SP, 0, SLOT(0, 1), 48);
	frame(SP + 200, 0xabc, RETURN(11));
	frame(SP + 216 + 32, 0, RETURN(12));
	scene.rule[12] = RULE_LAST;
	EXPECT(end_root, EXACT(scene.pc), RETURN(10), RETURN(11), RETURN(12));
}

static void test_fallback__mapping_without_table(void **state)
{
	(void)state;
	scene.mapping.flags = 0;
	scene.rule[0] = RULE_LAST; /* must not be read */
	BP = SP + 64;
	WORD(SP) = RETURN(1);
	frame(SP + 64, 0, RETURN(2));
	EXPECT(guess_root, EXACT(scene.pc), GUESS(RETURN(2)));
	call(1, FUNCTION(0));
	EXPECT(end_frame_pointer, EXACT(scene.pc), RETURN(1), RETURN(2));
}

static void test_fallback__call_in_the_first_bytes_of_a_mapping(void **state)
{
	(void)state;
	*scene_code(SCENE_TEXT + 4) = 0xe8;
	scene.pc = FUNCTION(3);
	WORD(SP) = SCENE_TEXT + 9;
	scene.rule[0] = RULE_LAST;
	EXPECT(guess_root, EXACT(scene.pc), GUESS(SCENE_TEXT + 9));
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_fallback__##name, scene_setup, scene_teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(chain_ends_with_zero),
		TEST(chain_ends_with_two_zeros),
		TEST(no_room_for_the_table),
		TEST(frame_at_the_stack_pointer),
		TEST(garbage_in_rbp),
		TEST(the_last_instructions_of_a_frame),
		TEST(other_last_instructions),
		TEST(leaf_that_is_called_directly),
		TEST(leaf_that_returns),
		TEST(leaf_at_the_beginning_of_a_frame),
		TEST(leaf_in_front_of_a_frame),
		TEST(leaf_behind_a_frame),
		TEST(leaf_behind_its_push),
		TEST(two_ways_out_of_a_leaf),
		TEST(guess_by_the_frame_pointer),
		TEST(guess_while_the_return_address_moves),
		TEST(stale_word_in_code_made_at_run_time),
		TEST(tail_call_from_code_with_rules),
		TEST(frame_pointer_of_a_caller),
		TEST(call_proves_the_frame_pointer),
		TEST(called_function_may_have_called_on),
		TEST(old_word_of_a_function_with_a_frame),
		TEST(nearer_function),
		TEST(zeros_that_are_no_root),
		TEST(return_to_unknown_code),
		TEST(text_right_above_the_stack),
		TEST(unreadable_text_in_the_frame),
		TEST(stubs_lead_anywhere),
		TEST(frame_with_another_return_address),
		TEST(frame_too_large_to_look_through),
		TEST(frame_with_too_many_words_to_look_up),
		TEST(return_address_without_a_call),
		TEST(no_leaf_above_the_leaf),
		TEST(misaligned_leaf_uses_the_frame_pointer),
		TEST(unreadable_leaf),
		TEST(rules_above_a_leaf),
		TEST(rules_above_a_frame_pointer),
		TEST(zero_that_no_frame_saved),
		TEST(library_without_tables_between_rules),
		TEST(mapping_without_table),
		TEST(call_in_the_first_bytes_of_a_mapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk of a real stack. Some work runs one instruction at a time. At each instruction the walk
 * must find the stack that the calls and returns so far have made.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/bpf/replay.h"

#define TRAP_FLAG 0x100
#define DEPTH_MAX 256u
#define NOINLINE  __attribute__((noinline))
#define ALT_STACK (256u << 10)

static const char *const reasons[] = {
#define X(name, class, help) #name,
#include "bpf/counters.def"
#undef X
};

static volatile u64 sink;

/* ---- what happened so far ---- */

/* Return addresses, outermost first. `base` holds the frames at the start, leaf side first. */
static struct {
	u64 stack[DEPTH_MAX], base[DEPTH_MAX];
	u32 depth, bases;
	u64 pc, sp; /* of the instruction before */
	bool stop, lost;
	u64 steps, good, wrong, cut, unknown;
	char first_bad[400];
} seen;

static bool is_return(const u8 *code)
{
	return code[0] == 0xc3 || code[0] == 0xc2 ||
	       ((code[0] == 0xf3 || code[0] == 0xf2) && code[1] == 0xc3);
}

/* Whether [pc, next) may be a call: e8, ff /2, or either behind a prefix. */
static bool is_call(const u8 *code)
{
	if (code[0] == 0x41 || code[0] == 0x3e || code[0] == 0xf2 || code[0] == 0x67)
		code++;
	return code[0] == 0xe8 || (code[0] == 0xff && (code[1] & 0x38) == 0x10);
}

__attribute__((no_sanitize("address"))) static u64 word_at(u64 address)
{
	return *(const volatile u64 *)address;
}

static void follow(u64 pc, u64 sp)
{
	const u8 *code = (const u8 *)seen.pc;

	/* the flag is off in the kernel: after a syscall the next instruction does not trap */
	if (code[0] == 0x0f && code[1] == 0x05 && pc != seen.pc + 2)
		code += 2;
	if (is_call(code) && sp == seen.sp - 8) {
		seen.lost |= seen.depth == DEPTH_MAX;
		if (!seen.lost)
			seen.stack[seen.depth++] = word_at(sp);
	} else if (is_return(code) && seen.depth) {
		seen.lost |= seen.stack[--seen.depth] != pc;
	} else if (is_return(code)) {
		/* out of a frame that was there at the start */
		seen.lost |= !seen.bases || seen.base[0] != pc;
		memmove(seen.base, seen.base + 1, --seen.bases * sizeof(seen.base[0]));
	}
	seen.pc = pc;
	seen.sp = sp;
}

static bool same(const struct replay_stack *stack, u64 pc)
{
	u32 count = 1 + seen.depth + seen.bases;

	if (stack->count != count || stack->frames[0] != (pc | FRAME_EXACT))
		return false;
	for (u32 i = 0; i < seen.depth; i++)
		if (stack->frames[1 + i] != seen.stack[seen.depth - 1 - i])
			return false;
	return !memcmp(stack->frames + 1 + seen.depth, seen.base,
		       seen.bases * sizeof(seen.base[0]));
}

static void describe(const struct replay_stack *stack, u64 pc)
{
	int used =
		snprintf(seen.first_bad, sizeof(seen.first_bad), "pc %llx %s, %u of %u frames:", pc,
			 reasons[stack->reason], stack->count, 1 + seen.depth + seen.bases);

	for (u32 i = 0; i < stack->count && i < 10; i++)
		used += snprintf(seen.first_bad + used, sizeof(seen.first_bad) - (size_t)used,
				 " %llx", FRAME_ADDRESS(stack->frames[i]));
}

static void on_step(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;
	u64 pc = (u64)at->uc_mcontext.gregs[REG_RIP], sp = (u64)at->uc_mcontext.gregs[REG_RSP];
	struct replay_stack stack = replay_walk(at->uc_mcontext.gregs);

	(void)number;
	(void)info;
	if (!seen.steps++) {
		seen.bases = stack.count - 1;
		memcpy(seen.base, stack.frames + 1, seen.bases * sizeof(u64));
		seen.pc = pc;
		seen.sp = sp;
		seen.lost = stack.reason != REASON_end_root;
	} else {
		follow(pc, sp);
	}
	if (same(&stack, pc) && stack.reason == REASON_end_root)
		seen.good++;
	else if (!replay_knows(pc))
		seen.unknown++;
	else if (stack.reason == REASON_end_root)
		seen.wrong++;
	else
		seen.cut++;
	if (seen.wrong + seen.cut && !seen.first_bad[0])
		describe(&stack, pc);
	if (seen.stop || seen.lost)
		at->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

static void on_start(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)number;
	(void)info;
	at->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static NOINLINE void step_through(void (*work)(void))
{
	memset(&seen, 0, sizeof(seen));
	raise(SIGUSR1);
	work();
	seen.stop = true;
	__asm__ volatile("nop; nop" ::: "memory"); /* the last step is here */
	print_message("%llu instructions: %llu right, %llu cut, %llu wrong, %llu in no table %s\n",
		      seen.steps, seen.good, seen.cut, seen.wrong, seen.unknown, seen.first_bad);
	assert_false(seen.lost);
	assert_true(seen.steps > 1000);
	assert_int_equal(seen.wrong, 0);
	assert_true(seen.cut * 1000 <= seen.steps);
}

/* ---- work ---- */

static NOINLINE u64 recurse(u64 n)
{
	return n ? recurse(n - 1) * 3 + sink : sink;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b + (int)(sink & 0);
}

static NOINLINE void aligned_leaf(void *buffer)
{
	sink += (u64)buffer & 63;
}

/* A frame of unknown size and with a stricter alignment: GCC finds its arguments by DRAP. */
static NOINLINE u64 realigned(u64 n, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g)
{
	__attribute__((aligned(64))) char fixed[128];
	char *dynamic = __builtin_alloca(n);

	memset(fixed, (int)n, sizeof(fixed));
	memset(dynamic, (int)n, n);
	aligned_leaf(fixed);
	aligned_leaf(dynamic);
	/* after the calls, so that they are kept in callee-saved registers meanwhile */
	return (a ^ sink) * (b ^ sink) + (c ^ sink) * (d ^ sink) + (e ^ sink) * (f ^ g ^ n);
}

static NOINLINE void large_frame(void)
{
	char buffer[12288];

	memset(buffer, (int)sink & 1, 64);
	aligned_leaf(buffer);
}

static void work_calls(void)
{
	int numbers[40];

	for (int i = 0; i < 40; i++)
		numbers[i] = (i * 7919) % 41;
	qsort(numbers, 40, sizeof(numbers[0]), compare);
	sink += recurse(30);
	sink += realigned(sink % 50 + 1, 1, 2, 3, 4, 5, 6, 7);
	large_frame();
}

static void work_library(void)
{
	char text[200];
	struct timespec now;

	snprintf(text, sizeof(text), "%s %d %g %p %-20s", "text", 12345, 1.0 / 3, text, "x");
	sink += (u64)(strtod(text + 11, NULL) * 100) + strlen(text);
	clock_gettime(CLOCK_MONOTONIC, &now);
	sink += (u64)now.tv_nsec;
	free(malloc(sink % 1000 + 1));
	free(strdup(text));
	sink += (u64)getppid();
}

static volatile sig_atomic_t handled;
static struct replay_stack in_handler;
static u64 handler_frames[DEPTH_MAX];

static void on_inner(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	in_handler = replay_walk(((ucontext_t *)context)->uc_mcontext.gregs);
	memcpy(handler_frames, in_handler.frames, in_handler.count * sizeof(u64));
	handled++;
}

static u64 outer_return;

static void on_outer(int number)
{
	outer_return = (u64)__builtin_return_address(0);
	raise(SIGUSR2);
	handled += number;
}

static NOINLINE u64 signalled(void)
{
	raise(SIGHUP);
	return (u64)__builtin_return_address(0);
}

/* ---- tests ---- */

static void test_replay__every_instruction_of_calls(void **state)
{
	(void)state;
	step_through(work_calls);
}

static void test_replay__every_instruction_of_the_library(void **state)
{
	(void)state;
	step_through(work_library);
}

static void test_replay__through_a_signal_handler(void **state)
{
	u64 caller = signalled(), exact = 0, at_caller = 0, at_trampoline = 0;

	(void)state;
	assert_true(handled > 1);
	assert_int_equal(in_handler.reason, REASON_end_root);
	for (u32 i = 0; i < in_handler.count; i++) {
		exact += handler_frames[i] >> 63;
		if (handler_frames[i] == outer_return)
			at_trampoline = i;
		if (handler_frames[i] == caller)
			at_caller = i;
	}
	assert_int_equal(exact, 2); /* both times in raise() */
	assert_true(at_trampoline > 0 && at_caller > at_trampoline + 1);
	assert_true(handler_frames[at_trampoline + 1] >> 63);
}

/* ---- set-up ---- */

static void handle(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

	assert_int_equal(sigaction(number, &action, NULL), 0);
}

static int setup(void **state)
{
	static _Alignas(4096) char alternate[ALT_STACK];
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
	struct sigaction outer = {.sa_handler = on_outer};
	pthread_attr_t attributes;
	void *start;
	size_t bytes;

	(void)state;
	if (replay_open() < 2 || pthread_getattr_np(pthread_self(), &attributes))
		return -1;
	pthread_attr_getstack(&attributes, &start, &bytes);
	pthread_attr_destroy(&attributes);
	replay_allow(start, bytes);
	replay_allow(alternate, sizeof(alternate));
	sigaltstack(&stack, NULL);
	handle(SIGUSR1, on_start, SA_ONSTACK);
	handle(SIGTRAP, on_step, SA_ONSTACK);
	handle(SIGUSR2, on_inner, SA_ONSTACK);
	sigaction(SIGHUP, &outer, NULL);
	return 0;
}

static int teardown(void **state)
{
	stack_t off = {.ss_flags = SS_DISABLE};

	(void)state;
	sigaltstack(&off, NULL);
	replay_close();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replay__every_instruction_of_calls),
		cmocka_unit_test(test_replay__every_instruction_of_the_library),
		cmocka_unit_test(test_replay__through_a_signal_handler),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

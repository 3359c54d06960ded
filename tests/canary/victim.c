/* SPDX-License-Identifier: Apache-2.0 */
/*
 * victim FD SECONDS: spins in a function below a stack full of secrets, and writes struct victim,
 * struct victim_secrets and its nodes to FD. victim spin SECONDS: only spins.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/canary/victim.h"

#define CALLS	   4096u
#define CALL_BYTES 5u
#define HEAP_BYTES 65536u

volatile int victim_stop __attribute__((visibility("hidden")));
volatile uint64_t victim_sp __attribute__((visibility("hidden")));
void victim_leaf(const uint64_t *registers);
extern const char victim_leaf_end[], victim_calls[];

/* The leaf has a page to itself; its registers are those of VICTIM_REGISTER_NUMBERS. */
__asm__(".section .text.victim, \"ax\", @progbits\n"
	".globl victim_leaf, victim_leaf_end, victim_calls\n"
	".hidden victim_leaf, victim_leaf_end, victim_calls\n"
	".balign 4096\n"
	".type victim_leaf, @function\n"
	"victim_leaf: push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n"
	"sub $8, %rsp\n"
	"mov (%rdi), %rbx\n mov 8(%rdi), %r12\n mov 16(%rdi), %r13\n mov 24(%rdi), %r14\n"
	"mov 32(%rdi), %r15\n mov 40(%rdi), %rsi\n mov 48(%rdi), %r8\n mov 56(%rdi), %r9\n"
	"mov %rsp, victim_sp(%rip)\n"
	"1: cmpl $0, victim_stop(%rip)\n je 1b\n"
	"add $8, %rsp\n"
	"pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"
	".balign 4096\n"
	"victim_leaf_end:\n"
	"victim_calls:\n"
	".rept 4096\n call victim_leaf\n .endr\n"
	".text\n");

struct stack {
	struct secret_slot slot[SECRET_KINDS][VICTIM_SLOTS];
	struct fake_signal signal[VICTIM_SLOTS];
	uint64_t code[VICTIM_CODE], end, pointer;
	struct fake_entry entry;
	struct fake_frame frame[VICTIM_FRAMES];
};

static struct secret_node nodes[VICTIM_NODES];
static struct fake_heap made_up;
/* Structures as in Go 1.25 and newer: see bpf/walk/go.bpf.h. */
static __thread uint64_t goroutine_of_thread;
static uint64_t go_thread[32], go_system[16], go_goroutine[16], thread_local_at;
static struct victim told;
static struct victim_secrets secrets;
static int told_fd, seconds;

static uint64_t random_word(void)
{
	uint64_t word;

	if (getrandom(&word, sizeof(word), 0) != sizeof(word))
		abort();
	return word;
}

static uint64_t small_word(void)
{
	return random_word() >> 18 | 1;
}

static uint64_t called(void)
{
	return (uint64_t)victim_calls + CALL_BYTES * (1 + random_word() % (CALLS - 1));
}

static uint64_t make_secret(enum secret_kind kind)
{
	static unsigned char *heap;

	if (!heap) {
		heap = malloc(HEAP_BYTES);
		for (size_t i = 0; i < HEAP_BYTES; i++)
			heap[i] = (unsigned char)random_word();
	}
	switch (kind) {
	case SECRET_RANDOM:
		return random_word();
	case SECRET_SMALL:
		return small_word();
	case SECRET_CALLED:
		return called();
	case SECRET_CODE:
		return called() + 1 + random_word() % (CALL_BYTES - 1);
	default:
		return (uint64_t)heap + 8 + random_word() % (HEAP_BYTES - 16);
	}
}

/* Returns the place that the C library has told the kernel. */
static uint64_t find_restorer(void)
{
	struct {
		uint64_t handler, flags, restorer, mask;
	} action = {0};

	signal(SIGUSR2, SIG_IGN);
	syscall(SYS_rt_sigaction, SIGUSR2, NULL, &action, 8);
	return action.restorer;
}

static void fill(struct stack *stack)
{
	for (unsigned int kind = 0; kind < SECRET_KINDS; kind++) {
		told.slot[kind] = (uint64_t)stack->slot[kind];
		for (unsigned int i = 0; i < VICTIM_SLOTS; i++) {
			secrets.slot[kind][i] = make_secret((enum secret_kind)kind);
			stack->slot[kind][i] =
				(struct secret_slot){secrets.slot[kind][i], called()};
		}
	}
	told.signal = (uint64_t)stack->signal;
	for (unsigned int i = 0; i < VICTIM_SLOTS; i++) {
		secrets.signal[i] = small_word();
		stack->signal[i] = (struct fake_signal){.restorer = told.restorer,
							.sp = told.slot[SECRET_RANDOM],
							.pc = secrets.signal[i]};
	}
	told.code = (uint64_t)stack->code;
	for (unsigned int i = 0; i < VICTIM_CODE; i++)
		stack->code[i] = secrets.code[i] = called();
	stack->end = 0;
	stack->pointer = told.slot[SECRET_RANDOM];
	told.pointer = (uint64_t)&stack->pointer;
	for (unsigned int i = 0; i < VICTIM_REGISTERS; i++)
		secrets.registers[i] = i & 1 ? small_word() : random_word();
}

/* All six words agree. The goroutine's stack is that of the secrets, and its pc is one. */
static void forge_goroutine(const struct stack *stack)
{
	uint64_t thread_pointer;

	__asm__("mov %%fs:0, %0" : "=r"(thread_pointer));
	goroutine_of_thread = go_thread[0] = (uint64_t)go_system;
	go_thread[184 / 8] = (uint64_t)go_goroutine;
	go_system[48 / 8] = go_goroutine[48 / 8] = (uint64_t)go_thread;
	go_system[56 / 8] = go_goroutine[56 / 8] = (uint64_t)stack->slot;
	go_goroutine[0] = (uint64_t)stack;
	go_goroutine[1] = (uint64_t)(stack + 1);
	go_goroutine[64 / 8] = secrets.slot[SECRET_SMALL][0];
	go_goroutine[72 / 8] = (uint64_t)go_goroutine;
	thread_local_at = (uint64_t)&goroutine_of_thread - thread_pointer;
	told.thread_local_at = thread_local_at;
	told.thread_local_word = (uint64_t)&thread_local_at;
}

static void fill_nodes(void)
{
	for (unsigned int i = 0; i < VICTIM_NODES; i++) {
		nodes[i].next = (uint64_t)&nodes[(i + VICTIM_NODES - 1) % VICTIM_NODES];
		nodes[i].same = (uint64_t)nodes;
		nodes[i].own = (uint64_t)&nodes[i];
		nodes[i].tagged = (uint64_t)&nodes[i].tagged | 1;
		nodes[i].type = (uint64_t)VICTIM_LENGTH << 32 | VICTIM_TYPE;
		for (unsigned int k = 0; k < sizeof(nodes[i].secret) / 8; k++)
			nodes[i].secret[k] = random_word();
	}
	told.nodes = (uint64_t)nodes;
}

/* Functions that are apart, each with others behind it. */
static void fill_frames(struct stack *stack)
{
	made_up = (struct fake_heap){.own = (uint64_t)&made_up,
				     .code = (uint64_t)victim_calls,
				     .code_bytes = CALLS * CALL_BYTES,
				     .returns = 1};
	told.heap = (uint64_t)&made_up;
	told.entry = (uint64_t)&stack->entry;
	stack->entry = (struct fake_entry){(uint64_t)&stack->frame[0].bp, called()};
	for (unsigned int i = 0; i < VICTIM_FRAMES; i++) {
		struct secret_node *node = &nodes[i * (VICTIM_NODES / VICTIM_FRAMES)];

		stack->frame[i] = (struct fake_frame){.place = random_word() << 1,
						      .bytecode = random_word() & ~1ull,
						      .method = node->own,
						      .function = node->tagged,
						      .context = node->tagged,
						      .bp = (uint64_t)&stack->frame[i + 1].bp,
						      .called = called()};
	}
	stack->frame[VICTIM_FRAMES - 1].bp = 0;
}

static void tell_bytes(const void *from, size_t bytes)
{
	if (write(told_fd, from, bytes) != (ssize_t)bytes)
		abort();
}

static void *tell(void *unused)
{
	while (!victim_sp)
		usleep(1000);
	told.sp = victim_sp;
	tell_bytes(&told, sizeof(told));
	tell_bytes(&secrets, sizeof(secrets));
	tell_bytes(nodes, sizeof(nodes));
	close(told_fd);
	sleep((unsigned int)seconds);
	victim_stop = 1;
	return unused;
}

static __attribute__((noinline)) void run(void)
{
	struct stack stack;

	memset(&stack, 0, sizeof(stack));
	fill(&stack);
	fill_frames(&stack);
	forge_goroutine(&stack);
	__asm__ volatile("" : : "r"(&stack) : "memory");
	victim_leaf(secrets.registers);
	__asm__ volatile("" : : "r"(&stack) : "memory");
}

static int spin(void)
{
	time_t end = time(NULL) + seconds;

	while (time(NULL) < end)
		for (volatile int i = 0; i < 100000; i++)
			;
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 3)
		return 2;
	seconds = (int)strtol(argv[2], NULL, 10);
	if (!strcmp(argv[1], "spin"))
		return spin();
	told_fd = (int)strtol(argv[1], NULL, 10);
	told.pid = (uint32_t)getpid();
	told.leaf = (uint64_t)victim_leaf;
	told.leaf_end = (uint64_t)victim_leaf_end;
	told.text = (uint64_t)victim_leaf & ~0xffffull;
	told.restorer = find_restorer();
	fill_nodes();
	if (pthread_create(&thread, NULL, tell, NULL))
		return 1;
	run();
	pthread_join(thread, NULL);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target FD SECONDS SECRETS...: writes random secrets of 16 bytes to FD. A secret is written once
 * it lies in a stack frame, in the heap or in registers. Then the target uses CPU time beneath the
 * secrets, at these places:
 *  - in frames of several depths, and below a callback from the C library;
 *  - in signal handlers on both kinds of stack;
 *  - in the kernel, in a thread and in a child.
 * Arguments and environment hold secrets from the test.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECRET_BYTES  16u
#define FRAME_SECRETS 3u
#define HEAP_SECRETS  512u
#define TURN_MS	      120

struct secret {
	uint64_t word[2];
};

static int out;
static const int depths[] = {1, 8, 60};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Makes a secret without a zero byte, like the secrets in arguments. */
static void make(volatile struct secret *secret)
{
	struct secret fresh;
	unsigned char *bytes = (unsigned char *)&fresh;

	if (getrandom(&fresh, sizeof(fresh), 0) != sizeof(fresh))
		abort();
	for (size_t i = 0; i < sizeof(fresh); i++)
		bytes[i] |= !bytes[i];
	*secret = fresh;
	if (write(out, &fresh, sizeof(fresh)) != sizeof(fresh))
		abort();
}

/* ---- where the time goes ---- */

/* Secrets in the registers that a walk starts from, callee-saved ones and others. */
static __attribute__((noinline)) void spin_on_registers(void)
{
	struct secret secret[4];
	uint64_t end = now_ms() + TURN_MS;

	for (int i = 0; i < 4; i++)
		make(&secret[i]);
	do
		__asm__ volatile("mov (%0), %%rbx\n mov 8(%0), %%r12\n mov 16(%0), %%r13\n"
				 "mov 24(%0), %%r14\n mov 32(%0), %%r15\n mov 40(%0), %%rsi\n"
				 "mov 48(%0), %%r8\n mov 56(%0), %%r9\n mov $2000000, %%ecx\n"
				 "1: dec %%ecx\n jnz 1b\n"
				 :
				 : "r"(secret)
				 : "rbx", "r12", "r13", "r14", "r15", "rsi", "r8", "r9", "rcx",
				   "memory", "cc");
	while (now_ms() < end);
}

static __attribute__((noinline)) void spin_in_kernel(void)
{
	uint64_t end = now_ms() + TURN_MS;
	char text[256];
	int ends[2];

	if (pipe(ends))
		abort();
	memset(text, 'x', sizeof(text));
	while (now_ms() < end)
		for (int i = 0; i < 100; i++)
			if (write(ends[1], text, sizeof(text)) < 0 ||
			    read(ends[0], text, sizeof(text)) < 0)
				abort();
	close(ends[0]);
	close(ends[1]);
}

static void on_signal(int number)
{
	volatile struct secret secret[FRAME_SECRETS];

	(void)number;
	for (unsigned int i = 0; i < FRAME_SECRETS; i++)
		make(&secret[i]);
	spin_on_registers();
	__asm__ volatile("" : : "r"(secret) : "memory");
}

static void leaf(void)
{
	spin_on_registers();
	spin_in_kernel();
	raise(SIGUSR1);
	raise(SIGUSR2);
}

/* ---- frames ---- */

static __attribute__((noinline)) void deep(int depth);

static int compare(const void *left, const void *right)
{
	static __thread int once;

	if (!once) {
		once = 1;
		deep(2);
		once = 0;
	}
	return (left > right) - (left < right);
}

static __attribute__((noinline)) void deep(int depth)
{
	volatile struct secret secret[FRAME_SECRETS];
	char sorted[2] = {1, 0};

	for (unsigned int i = 0; i < FRAME_SECRETS; i++)
		make(&secret[i]);
	if (depth > 1)
		deep(depth - 1);
	else
		leaf();
	if (depth == 8)
		qsort(sorted, 2, 1, compare);
	__asm__ volatile("" : : "r"(secret) : "memory");
}

static void *work(void *end)
{
	do
		for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++)
			deep(depths[i]);
	while (now_ms() < *(uint64_t *)end);
	return NULL;
}

static void set_handlers(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	stack_t stack = {.ss_size = 65536};

	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
}

static void fill_heap(void)
{
	struct secret *secret = calloc(HEAP_SECRETS, sizeof(*secret));

	for (size_t i = 0; i < HEAP_SECRETS; i++)
		make(&secret[i]);
	/* in freed memory as well */
	free(memcpy(malloc(SECRET_BYTES * 4), secret, SECRET_BYTES * 4));
}

int main(int argc, char **argv)
{
	pthread_t thread;
	uint64_t end;
	pid_t child;

	if (argc < 3)
		return 2;
	out = (int)strtol(argv[1], NULL, 10);
	end = now_ms() + 1000 * strtoull(argv[2], NULL, 10);
	set_handlers();
	fill_heap();
	child = fork();
	if (child == 0) {
		work(&end);
		_exit(0);
	}
	if (pthread_create(&thread, NULL, work, &end))
		return 1;
	work(&end);
	pthread_join(thread, NULL);
	waitpid(child, NULL, 0);
	return 0;
}

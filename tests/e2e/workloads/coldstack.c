/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coldstack [SECONDS] [narrow|bare|wide|mixed|edge|dropped|objects=N]...
 *
 * The worst case of a walk: stacks of 1,024 frames of 64 KiB. Each frame is in a function of another
 * object than the frame before, in random order. After each interrupt the process makes another
 * stack, and empties the caches between two of them. One process runs on each CPU.
 *
 * The words choose the kind of the functions (coldstack_object.S):
 *
 * - dropped: their text is not in the page tables, so no call before a return address can be read;
 * - edge: the page below each return address was never touched;
 * - objects=1: few enough functions that their rules are cached, and only the stack is cold.
 */
#include <dlfcn.h>
#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define OBJECTS_MAX   500
#define CHUNKS	      4 /* of coldstack_object.S */
#define CHUNK_BYTES   16384u
#define KIND_BYTES    4096u
#define SITES	      16
#define FRAME_BYTES   65536u
#define FIBERS	      16
#define FRAMES	      1024
#define BUFFER_BYTES  (64u << 20)
#define INTERRUPT_TSC 8000 /* a gap of a few microseconds */

enum kind {
	NARROW,
	BARE,
	WIDE,
	KINDS
};

struct step {
	uint64_t function, site;
};

static char *code[OBJECTS_MAX]; /* of each object */
static struct {
	unsigned int objects, kinds;
	int dropped, edge;
} options = {OBJECTS_MAX, 1 << NARROW, 0, 0};
static void *fibers[FIBERS], *starter;
static unsigned int running;
static uint64_t end, random_state = 88172645463325252u;
static volatile char *buffer;

/* xorshift64 (Marsaglia) */
static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t cycles(void)
{
	return __builtin_ia32_rdtsc();
}

/* Saves where this fiber is and goes on in another. */
void fiber_switch(void **save, void *to);
/* A fiber's first instruction: r12 is its path, r13 its first function. */
void fiber_start(void);
__asm__("	.text\n"
	"	.globl fiber_switch, fiber_start\n"
	"	.type fiber_switch, @function\n"
	"	.type fiber_start, @function\n"
	"fiber_switch:\n"
	"	.cfi_startproc\n"
	"	.irp register, rbp, rbx, r12, r13, r14, r15\n"
	"	pushq %\\register\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset \\register, 0\n"
	"	.endr\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	.irp register, r15, r14, r13, r12, rbx, rbp\n"
	"	popq %\\register\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore \\register\n"
	"	.endr\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size fiber_switch, . - fiber_switch\n"
	"fiber_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	movq %r12, %rdi\n"
	"	call *%r13\n"
	"	hlt\n"
	"	.cfi_endproc\n"
	"	.size fiber_start, . - fiber_start\n");

/* Cold lines, cold pages, until an interrupt was there. */
FUNCTION void coldstack_evict(void)
{
	uint64_t last = cycles(), now = last;

	while (now - last < INTERRUPT_TSC) {
		last = now;
		for (int i = 0; i < 8; i++)
			buffer[next_random() & (BUFFER_BYTES - 1)]++;
		now = cycles();
	}
}

FUNCTION void coldstack_leaf(void)
{
	unsigned int self = running;

	fiber_switch(&fibers[self], starter);
	for (;;) {
		coldstack_evict();
		if (clock_ns(CLOCK_MONOTONIC) >= end)
			_exit(0);
		fiber_switch(&fibers[self], fibers[(self + 1) % FIBERS]);
	}
}

static unsigned int random_kind(void)
{
	unsigned int kind;

	do
		kind = next_random() % KINDS;
	while (!(options.kinds >> kind & 1));
	return kind;
}

/* In random order through all objects, to the leaf. */
static struct step *make_path(void)
{
	struct step *path = calloc(FRAMES + 1, sizeof(*path));
	unsigned int order[OBJECTS_MAX];

	if (!path)
		err(1, "calloc");
	for (unsigned int i = 0; i < options.objects; i++) {
		unsigned int other = next_random() % (i + 1);

		order[i] = order[other];
		order[other] = i;
	}
	for (unsigned int i = 0; i < FRAMES; i++) {
		/* no saved register in the last chunk: the page below is not needed */
		uint64_t chunk = options.edge ? CHUNKS - 1 : next_random() % CHUNKS;
		uint64_t at = chunk * CHUNK_BYTES + random_kind() * KIND_BYTES;

		path[i].function = (uint64_t)(code[order[i % options.objects]] + at);
		path[i + 1].site = next_random() % SITES; /* from where it calls the next */
	}
	path[FRAMES].function = (uint64_t)coldstack_leaf;
	return path;
}

/* Its whole stack, down to the leaf. */
static void start_fiber(unsigned int number)
{
	size_t bytes = (size_t)FRAME_BYTES * (FRAMES + 2);
	char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct step *path = make_path();

	if (stack == MAP_FAILED)
		err(1, "mmap");
	madvise(stack, bytes, MADV_NOHUGEPAGE);
	/* the return address near a page's beginning: much of the page is read, or what is below */
	char *top = stack + bytes - FRAME_BYTES;
	uint64_t *at = (uint64_t *)((uintptr_t)top / 4096 * 4096 + (options.edge ? 16 : 144));

	*--at = (uint64_t)fiber_start;
	*--at = 0;		    /* rbp */
	*--at = 0;		    /* rbx */
	*--at = (uint64_t)&path[1]; /* r12: for the first function */
	*--at = path[0].function;   /* r13 */
	*--at = 0;		    /* r14 */
	*--at = 0;		    /* r15 */
	running = number;
	fiber_switch(&starter, at);
}

static void load_objects(const char *program)
{
	for (unsigned int i = 0; i < options.objects; i++) {
		char path[4096];
		void *object;

		snprintf(path, sizeof(path), "%s.objects/%u.so", program, i);
		object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		code[i] = object ? dlsym(object, "coldstack_code") : NULL;
		if (!code[i])
			errx(1, "%s", dlerror());
	}
}

static void pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void run(unsigned int cpu, double seconds)
{
	pin(cpu);
	random_state += 0x9e3779b97f4a7c15u * (cpu + 1);
	buffer = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (buffer == MAP_FAILED)
		err(1, "mmap");
	for (unsigned int i = 0; i < FIBERS; i++)
		start_fiber(i);
	for (unsigned int i = 0; options.dropped && i < options.objects; i++)
		madvise(code[i], (size_t)CHUNKS * CHUNK_BYTES, MADV_DONTNEED);
	end = clock_ns(CLOCK_MONOTONIC) + 1e9 * seconds;
	fiber_switch(&starter, fibers[0]);
}

static void parse(const char *word)
{
	static const char *const names[KINDS] = {"narrow", "bare", "wide"};

	for (int i = 0; i < KINDS; i++)
		if (strcmp(word, names[i]) == 0)
			options.kinds = 1u << i;
	if (strcmp(word, "mixed") == 0)
		options.kinds = (1u << KINDS) - 1;
	options.dropped |= strcmp(word, "dropped") == 0;
	options.edge |= strcmp(word, "edge") == 0;
	sscanf(word, "objects=%u", &options.objects);
}

int main(int argc, char **argv)
{
	unsigned int cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);

	for (int i = 2; i < argc; i++)
		parse(argv[i]);
	if (options.objects < 1 || options.objects > OBJECTS_MAX)
		errx(2, "objects");
	load_objects(argv[0]);
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		if (fork() == 0)
			run(cpu, seconds_argument(argc, argv, 1, 5));
	for (int status = 0; wait(&status) > 0;)
		if (status)
			return 1;
	return 0;
}

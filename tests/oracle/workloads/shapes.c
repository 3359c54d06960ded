/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shapes SECONDS: makes more frames than a record holds, and runs stubs of the procedure linkage
 * table. It also runs the first and last instructions of functions that realign their stack.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#define FUNCTION __attribute__((noinline, noclone, noipa))
#define ROUNDS	 20000
#define DEPTH	 1200

static volatile uint64_t sink;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

FUNCTION static void spin(void)
{
	uint64_t value = sink | 1;

	for (int i = 0; i < ROUNDS; i++)
		value = value * 6364136223846793005u + 1;
	sink = value;
}

FUNCTION static void deep(int depth)
{
	if (depth > 0)
		deep(depth - 1);
	else
		spin();
	sink++;
}

/* The function is so short (-fno-builtin) that much of the time goes to its stub. */
FUNCTION static void stubs(void)
{
	for (int i = 0; i < ROUNDS; i++)
		sink += (uint64_t)ffs(i);
}

FUNCTION static uint64_t realigned(size_t size, int a, int b, int c, int d, int e, int f, int g)
{
	uint64_t values[4] __attribute__((aligned(64)));
	char *buffer = __builtin_alloca(size);

	values[0] = (uint64_t)(a + b + c + d + e + f + g);
	__asm__ volatile("" : : "r"(values), "r"(buffer) : "memory");
	return values[0];
}

FUNCTION static void realign(void)
{
	for (int i = 0; i < ROUNDS; i++)
		sink += realigned(16 + ((size_t)i & 16), i, 2, 3, 4, 5, 6, 7);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 2, end = now() + seconds;
	double least = seconds * CLOCKS_PER_SEC / 2; /* of CPU time, on a busy machine */

	while (now() < end || (double)clock() < least) {
		deep(DEPTH);
		stubs();
		realign();
		realign();
	}
	return 0;
}

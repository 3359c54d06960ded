/* SPDX-License-Identifier: Apache-2.0 */
/* frames [SECONDS]: frames whose size or alignment is known only while running. */
#include <alloca.h>
#include "work.h"

FUNCTION void frames_leaf(void)
{
	burn_rounds(8000);
	KEEP_FRAME();
}

FUNCTION void frames_alloca(size_t size)
{
	char *buffer = alloca(size);

	__asm__ volatile("" : : "r"(buffer) : "memory");
	frames_leaf();
	__asm__ volatile("" : : "r"(buffer) : "memory");
}

FUNCTION void frames_aligned(int seed)
{
	uint64_t values[16] __attribute__((aligned(64)));

	values[seed & 15] = (uint64_t)seed;
	__asm__ volatile("" : : "r"(values) : "memory");
	frames_leaf();
	__asm__ volatile("" : : "r"(values) : "memory");
}

/* Both at once: GCC keeps the caller's stack pointer in a register of its own (DRAP). */
FUNCTION void frames_both(size_t size, int a, int b, int c, int d, int e, int f, int g)
{
	uint64_t values[8] __attribute__((aligned(128)));
	char *buffer = alloca(size);

	values[0] = (uint64_t)(a + b + c + d + e + f + g);
	__asm__ volatile("" : : "r"(values), "r"(buffer) : "memory");
	frames_leaf();
	__asm__ volatile("" : : "r"(values), "r"(buffer) : "memory");
}

int main(int argc, char **argv)
{
	struct work_time time = work_for(seconds_argument(argc, argv, 1, 2));
	int i = 0;

	while (is_left(&time)) {
		i++;
		frames_alloca(64 + (size_t)(i % 7) * 100);
		frames_aligned(i);
		frames_both(32 + (size_t)(i % 5) * 48, 1, 2, 3, 4, 5, 6, i);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit [SECONDS]: works like a compiler at run time. It writes code into anonymous memory, runs the
 * code for 2 ms, gives the memory back and sleeps for 2 ms, each time somewhere else.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "work.h"

#define PAGE 4096

/* mov $50000, %eax; 1: dec %eax; jnz 1b; ret */
static const unsigned char loop[] = {0xb8, 0x50, 0xc3, 0, 0, 0xff, 0xc8, 0x75, 0xfc, 0xc3};

FUNCTION int jit_once(size_t pages)
{
	unsigned char *code = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 2000000;

	if (code == MAP_FAILED)
		return 0;
	memcpy(code + (pages - 1) * PAGE, loop, sizeof(loop));
	if (mprotect(code, pages * PAGE, PROT_READ | PROT_EXEC))
		return 0;
	while (clock_ns(CLOCK_MONOTONIC) < end)
		((void (*)(void))(code + (pages - 1) * PAGE))();
	munmap(code, pages * PAGE);
	KEEP_FRAME();
	return 1;
}

int main(int argc, char **argv)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 1e9 * seconds_argument(argc, argv, 1, 2);

	for (size_t i = 0; clock_ns(CLOCK_MONOTONIC) < end; i++) {
		if (!jit_once(1 + i % 16))
			return 1;
		usleep(2000);
	}
	return 0;
}

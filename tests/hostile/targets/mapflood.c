/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapflood SECONDS FILE: maps a file's code and unmaps it, as often as the kernel can, a step
 * further each time. Then it keeps as many mappings as a process may have. It prints the number of
 * mappings in a second of CPU time.
 */
#include "tests/hostile/targets/hostile.h"

#define STEP  8192
#define SPAN  (1ull << 32)
#define BASE  ((char *)0x100000000000)
#define KEPT  60000
#define BATCH 64

static uint64_t mapped;

FUNCTION static void flood_once(int fd)
{
	char *place = BASE + mapped % (SPAN / STEP) * STEP;
	void *code = mmap(place, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);

	if (code == MAP_FAILED)
		fail("mmap");
	munmap(code, 4096);
	mapped++;
}

/* Takes every second page, so that the pages do not become one mapping. */
FUNCTION static void keep_many(int fd)
{
	for (unsigned int i = 0; i < KEPT; i++)
		if (mmap(BASE + (size_t)i * STEP, 4096, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
			return;
}

int main(int argc, char **argv)
{
	uint64_t started = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t end = end_after(seconds_argument(argc, argv, 1, 2) / 2);
	int fd = open(argc > 2 ? argv[2] : argv[0], O_RDONLY | O_CLOEXEC);

	while (before(end))
		for (int i = 0; i < BATCH; i++)
			flood_once(fd);
	printf("%.0f a second of CPU time\n",
	       (double)mapped * 1e9 / (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - started));
	fflush(stdout);
	keep_many(fd);
	end = end_after(seconds_argument(argc, argv, 1, 2) / 2);
	while (before(end))
		burn_rounds(100000);
	return 0;
}

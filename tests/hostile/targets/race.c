/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race SECONDS OFFSET A B: maps file A and file B in turn at one place, and runs the code at OFFSET
 * there. After a while race starts itself again. The sampler watches all of it.
 */
#include <stdio.h>

#include "tests/hostile/targets/hostile.h"

#define PLACE  ((void *)0x200000000000)
#define ROUNDS 200 /* until it starts itself again */

static size_t offset;

FUNCTION static void call_file_a(char *code)
{
	work_sink += ((body_function *)(code + offset))(100000);
	KEEP_FRAME();
}

FUNCTION static void call_file_b(char *code)
{
	work_sink += ((body_function *)(code + offset))(100000);
	KEEP_FRAME();
}

static void run_once(const char *path, void (*call)(char *code))
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *code = mmap(PLACE, 16384, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);

	close(fd);
	if (code == MAP_FAILED)
		fail("mmap");
	call(code);
	munmap(code, 16384);
}

int main(int argc, char **argv)
{
	uint64_t end = end_after(seconds_argument(argc, argv, 1, 2));
	char left[32];

	if (argc < 5)
		return 2;
	offset = strtoul(argv[2], NULL, 16);
	for (int i = 0; i < ROUNDS && before(end); i++) {
		run_once(argv[3], call_file_a);
		run_once(argv[4], call_file_b);
	}
	if (!before(end))
		return 0;
	snprintf(left, sizeof(left), "%.3f", (double)(end - clock_ns(CLOCK_MONOTONIC)) / 1e9);
	execl(argv[0], argv[0], left, argv[2], argv[3], argv[4], NULL);
	fail("execl");
}

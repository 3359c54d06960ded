/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_a TIMES and exec_b TIMES: 100 ms of work, then the other program in the same process. The
 * includer defines WORK (its function's name) and OTHER (the program that follows). The functions
 * lie at different offsets, so that rules or names of the wrong program show.
 */
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "work.h"

static uint64_t exec_end;

FUNCTION void WORK(int depth)
{
	if (depth > 0)
		WORK(depth - 1);
	else
		while (clock_ns(CLOCK_MONOTONIC) < exec_end)
			burn_rounds(2000);
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 20;
	char path[4096], count[16];

	exec_end = clock_ns(CLOCK_MONOTONIC) + 100000000;
	WORK(EXTRA_DEPTH);
	if (times <= 1)
		return 0;
	snprintf(count, sizeof(count), "%d", times - 1);
	snprintf(path, sizeof(path), "%s/%s", dirname(strdup(argv[0])), OTHER);
	execl(path, path, count, (char *)NULL);
	return 1;
}

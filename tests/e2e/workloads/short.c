/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short [MILLISECONDS [TIMES]]: a process of so much CPU time (50), three frames deep, which executes
 * itself so many times, counting the first one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "work.h"

FUNCTION void short_leaf(uint64_t end)
{
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		burn_rounds(2000);
	KEEP_FRAME();
}

FUNCTION void short_outer(uint64_t end)
{
	short_leaf(end);
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	uint64_t time = (uint64_t)(1e6 * seconds_argument(argc, argv, 1, 50));
	long times = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
	char left[32];

	/* the clock goes on over an exec */
	if (argc > 2)
		time += clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	short_outer(time);
	if (times <= 1)
		return 0;
	snprintf(left, sizeof(left), "%ld", times - 1);
	execl(argv[0], argv[0], argv[1], left, (char *)NULL);
	return 1;
}

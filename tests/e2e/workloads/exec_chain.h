/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_a TIMES and exec_b TIMES: 100 ms of work, as work_for() has it, then the other program in the
 * same process. The includer defines WORK (its function's name) and OTHER (the program that
 * follows). The functions lie at different offsets, so that rules or names of the wrong program show.
 */
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "work.h"

static struct work_time exec_time;

FUNCTION void WORK(int depth)
{
	if (depth > 0)
		WORK(depth - 1);
	else
		while (is_left(&exec_time))
			burn_rounds(2000);
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 20;
	char path[4096], count[16];

	exec_time = work_for(0.1);
	WORK(EXTRA_DEPTH);
	if (times <= 1)
		return 0;
	snprintf(count, sizeof(count), "%d", times - 1);
	snprintf(path, sizeof(path), "%s/%s", dirname(strdup(argv[0])), OTHER);
	execl(path, path, count, (char *)NULL);
	return 1;
}

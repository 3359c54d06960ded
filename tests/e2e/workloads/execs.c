/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execs [COUNT PROGRAM]: starts the program so often, one process after another without a pause. No
 * sample of the program may have the name of the function that does so. Without arguments: ends.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

FUNCTION int execs_start(const char *program)
{
	pid_t child = fork();

	if (child == 0) {
		execl(program, program, (char *)NULL);
		_exit(1);
	}
	KEEP_FRAME();
	return child > 0 && waitpid(child, NULL, 0) == child;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? strtol(argv[1], NULL, 10) : 0;

	while (count-- > 0)
		if (!execs_start(argv[2]))
			return 1;
	return 0;
}

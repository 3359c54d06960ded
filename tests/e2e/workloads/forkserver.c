/* SPDX-License-Identifier: Apache-2.0 */
/* forkserver [SECONDS]: a parent that sleeps, one child after another with 12 ms of CPU time. */
#include <sys/wait.h>
#include <unistd.h>
#include "work.h"

FUNCTION void forkserver_child(void)
{
	uint64_t end = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 12000000;

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		burn_rounds(2000);
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 1e9 * seconds_argument(argc, argv, 1, 2);

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		pid_t child = fork();

		if (child == 0) {
			forkserver_child();
			_exit(0);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return 1;
		usleep(2000);
	}
	return 0;
}

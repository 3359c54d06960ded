/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pidreuse SECONDS PID A B: starts program A and program B in turn, always under one and the same
 * number, for a few milliseconds each.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/hostile/targets/hostile.h"

int main(int argc, char **argv)
{
	uint64_t end = end_after(seconds_argument(argc, argv, 1, 2));
	pid_t number = (pid_t)seconds_argument(argc, argv, 2, 0);
	unsigned int turns = 0;

	while (argc > 4 && before(end)) {
		struct clone_args args = {
			.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&number, .set_tid_size = 1};
		long pid = syscall(SYS_clone3, &args, sizeof(args));

		if (pid == 0) {
			execl(argv[3 + turns % 2], argv[3 + turns % 2], "0.03", NULL);
			_exit(1);
		}
		if (pid < 0) {
			perror("clone3");
			return errno == EEXIST ? 1 : 77;
		}
		waitpid((pid_t)pid, NULL, 0);
		turns++;
	}
	printf("%u processes\n", turns);
	return 0;
}

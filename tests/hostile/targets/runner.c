/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runner OFFSET MS FILE...: starts a process for each file, two at a time. The process maps the
 * whole file executable and calls the code at OFFSET (hex) for so long, if the file is long enough.
 */
#include <signal.h>
#include <sys/wait.h>

#include "tests/hostile/targets/hostile.h"

#define AT_ONCE 2

FUNCTION static void run_body(body_function *body)
{
	work_sink += body(20000);
	KEEP_FRAME();
}

static void be_child(const char *path, size_t offset, double seconds)
{
	uint64_t end = end_after(seconds);
	size_t size = 0;
	char *code = map_code(path, &size);

	alarm(60);
	while (before(end)) {
		if (code && offset + 4096 <= size)
			run_body((body_function *)(code + offset));
		else
			burn_rounds(20000);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	size_t offset = argc > 3 ? strtoul(argv[1], NULL, 16) : 0;
	double seconds = seconds_argument(argc, argv, 2, 30) / 1000;
	int running = 0;

	for (int i = 3; i < argc; i++) {
		if (running == AT_ONCE && wait(NULL) > 0)
			running--;
		if (fork() == 0)
			be_child(argv[i], offset, seconds);
		running++;
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

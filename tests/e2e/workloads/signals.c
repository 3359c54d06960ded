/* SPDX-License-Identifier: Apache-2.0 */
/* signals [SECONDS] [alt]: a handler interrupted by a second one, on the stack or on its own. */
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "work.h"

FUNCTION void signals_inner(int number)
{
	(void)number;
	burn_rounds(30000);
	KEEP_FRAME();
}

FUNCTION void signals_outer(int number)
{
	(void)number;
	burn_rounds(30000);
	kill(getpid(), SIGUSR2);
	burn_rounds(30000);
	KEEP_FRAME();
}

FUNCTION void signals_base(void)
{
	burn_rounds(30000);
	kill(getpid(), SIGUSR1);
	KEEP_FRAME();
}

static char stack[256 * 1024];

int main(int argc, char **argv)
{
	struct work_time time = work_for(seconds_argument(argc, argv, 1, 2));
	int alt = argc > 2 && strcmp(argv[2], "alt") == 0;
	stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_flags = alt ? SA_ONSTACK : 0};

	if (alt)
		sigaltstack(&own, NULL);
	action.sa_handler = signals_outer;
	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = signals_inner;
	sigaction(SIGUSR2, &action, NULL);
	while (is_left(&time))
		signals_base();
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/signals.h"

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

static const int ends[] = {SIGHUP,  SIGINT,    SIGQUIT,	  SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
			   SIGXCPU, SIGVTALRM, SIGSTKFLT, SIGPROF, SIGIO,   SIGPWR};

static bool is_ignored(int number)
{
	struct sigaction action;

	if (number == SIGINT || number == SIGTERM)
		return false;
	return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void signals_that_end(sigset_t *ret_set)
{
	sigemptyset(ret_set);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!is_ignored(ends[i]))
			sigaddset(ret_set, ends[i]);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		if (!is_ignored(number))
			sigaddset(ret_set, number);
}

void signals_leave_to_loader(void)
{
	static const int left[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

	setsid();
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		signal(left[i], SIG_IGN);
}

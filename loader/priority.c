/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/priority.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ipc/guard.h"

#define PRIORITY_WORKER (-10)

static const struct sched_param first = {.sched_priority = 1};

static struct {
	int policy; /* before the start, or -1: not raised */
	struct sched_param param;
} before = {.policy = -1};

void priority_raise(void)
{
	int policy = sched_getscheduler(0);

	if (policy == SCHED_RR || policy == SCHED_FIFO || policy == SCHED_DEADLINE)
		return;
	if (policy < 0 || sched_getparam(0, &before.param) < 0)
		return;
	if (sched_setscheduler(0, SCHED_RR, &first) == 0)
		before.policy = policy;
}

void priority_restore(void)
{
	if (before.policy >= 0)
		sched_setscheduler(0, before.policy, &before.param);
}

void priority_raise_worker(void)
{
	static const char value[] = "-10";
	guard_fd int group = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);

	if (setpriority(PRIO_PROCESS, 0, PRIORITY_WORKER))
		return;
	if (write(group, value, sizeof(value) - 1) < 0)
		return; /* the compiler wants the result to be looked at */
}

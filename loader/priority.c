/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/priority.h"

#include <stdbool.h>
#include <sys/resource.h>

#define START_PRIORITY (-20)

static int before;
static bool raised;

void priority_raise(void)
{
	before = getpriority(PRIO_PROCESS, 0);
	raised = setpriority(PRIO_PROCESS, 0, START_PRIORITY) == 0;
}

void priority_restore(void)
{
	if (raised)
		setpriority(PRIO_PROCESS, 0, before);
}

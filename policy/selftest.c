/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/policy_impl.h"
#include "policy/syscalls.h"

static bool role_calls(enum policy_role role, int number)
{
	for (const struct group *group = role_groups[role]; group->calls; group++)
		for (size_t i = 0; i < group->count; i++)
			if (group->calls[i].number == number)
				return true;
	return false;
}

bool policy_probe_applies(enum policy_role role, size_t index)
{
	const struct probe *probe = &probes[index];

	/* A row with a condition is the forbidden form of a call that may be made otherwise. */
	return role_calls(role, probe->number) == (probe->condition != 0);
}

static bool refused(const struct probe *probe)
{
	const unsigned long *a = probe->argument;

	return syscall(probe->number, a[0], a[1], a[2], a[3], a[4], PROBE_MARK) == -1 &&
	       errno == PROBE_ERRNO;
}

unsigned int policy_selftest(enum policy_role role)
{
	unsigned int succeeded = 0;

	if (POLICY_UNCONFINED)
		return 0;
	for (size_t i = 0; i < PROBES; i++)
		if (policy_probe_applies(role, i) && !refused(&probes[i]))
			succeeded++;
	return succeeded;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/prctl.h>

#include "tests/escape/mask.h"

uint32_t escape_off;

/* Ids and capabilities go together: either alone is no boundary. */
int policy_become(enum policy_role role)
{
	if (POLICY_PUTS_ON(ids))
		return real_become(role);
	return POLICY_PUTS_ON(no_new_privs) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}

/* Its calls would succeed, one of them is PTRACE_TRACEME. */
unsigned int policy_selftest(enum policy_role role)
{
	return POLICY_PUTS_ON(seccomp) ? real_selftest(role) : 1;
}

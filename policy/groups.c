/* SPDX-License-Identifier: Apache-2.0 */
/*
 * initgroups() has a file of its own, because it may load NSS modules, which no static program can.
 * The linker takes this file into the loader alone (tests/lint/static-nss.sh).
 */
#include <errno.h>
#include <grp.h>

#include "policy/policy.h"

int policy_user_join_groups(const struct policy_user *user)
{
	if (user->name && initgroups(user->name, user->gid))
		return -errno;
	return 0;
}

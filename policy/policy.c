/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "policy/policy_impl.h"
#include "policy/roles.h"

const struct role *policy_role(enum policy_role role)
{
	return (unsigned int)role < ROLE_COUNT ? &role_table[role] : NULL;
}

const char *policy_role_name(enum policy_role role)
{
	return (unsigned int)role < ROLE_COUNT ? role_table[role].program : "?";
}

uid_t policy_role_uid(enum policy_role role)
{
	return (unsigned int)role < ROLE_COUNT ? role_table[role].id : (uid_t)-1;
}

int policy_confine(enum policy_role role)
{
	const struct role *data = policy_role(role);
	int r;

	if (!data)
		return -EINVAL;
	/* Before Linux 6.14 a program started by descriptor is named after its number. */
	if (prctl(PR_SET_NAME, data->program) || prctl(PR_SET_DUMPABLE, 0))
		return -errno;
	if (POLICY_UNCONFINED) {
		fprintf(stderr, "%s: built with a sanitizer, NOT confined\n", data->program);
		return 0;
	}
	r = policy_limit(data);
	return r ? r : policy_filter(role);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "policy/policy_impl.h"
#include "policy/roles.h"

const struct role *policy_role(enum policy_role role)
{
	return (unsigned int)role < ROLE_COUNT ? &role_table[role] : NULL;
}

/* Without CAP_SYS_RESOURCE a limit only goes down, so a lower one from outside stands. */
static int lower(const struct limit *limit)
{
	struct rlimit both;

	if (getrlimit((int)limit->resource, &both))
		return -errno;
	if (both.rlim_max == RLIM_INFINITY || both.rlim_max > limit->value)
		both.rlim_max = limit->value;
	both.rlim_cur = both.rlim_max;
	return setrlimit((int)limit->resource, &both) ? -errno : 0;
}

int policy_limit(const struct role *role)
{
	int r = 0;

	for (const struct limit *limit = role->limits; limit->resource && r == 0; limit++)
		r = lower(limit);
	return r;
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
	return r ? r : policy_filter(role, -1);
}

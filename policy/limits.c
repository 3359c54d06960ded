/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/resource.h>

#include "policy/policy_impl.h"

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

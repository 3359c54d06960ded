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

const char *policy_role_name(enum policy_role role)
{
	return (unsigned int)role < ROLE_COUNT ? role_table[role].program : "?";
}

uid_t policy_role_uid(enum policy_role role)
{
	return (unsigned int)role < ROLE_COUNT ? role_table[role].id : (uid_t)-1;
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

bool policy_has_limits(const struct role *role)
{
	struct rlimit both;

	for (const struct limit *limit = role->limits; limit->resource; limit++)
		if (getrlimit((int)limit->resource, &both) || both.rlim_max > limit->value)
			return false;
	return true;
}

bool policy_has_dumpable(const struct role *role)
{
	(void)role;
	return prctl(PR_GET_DUMPABLE) == 0;
}

/* In the order of the numbers; the filter, which is last, has a test of its own. */
static bool (*const tests[LAYER_COUNT])(const struct role *role) = {
#define L(name, help)	   [LAYER_##name] = policy_has_##name,
#define policy_has_seccomp NULL
#include "policy/layers.def"
#undef policy_has_seccomp
#undef L
};

static uint32_t prove(const struct role *role, uint32_t layers)
{
	uint32_t proven = 0;

	for (unsigned int i = 0; i < LAYER_COUNT; i++)
		if (layers >> i & 1 && tests[i] && tests[i](role))
			proven |= 1u << i;
	return proven;
}

static int put_on(const struct role *role, uint32_t *ret_lacking)
{
	int r = 0;

	/* Before Linux 6.14 a program started by descriptor is named after its number. */
	if (prctl(PR_SET_NAME, role->program))
		return -errno;
	if (POLICY_PUTS_ON(dumpable) && prctl(PR_SET_DUMPABLE, 0))
		return -errno;
	if (POLICY_PUTS_ON(limits))
		r = policy_limit(role);
	if (r == 0 && POLICY_PUTS_ON(landlock) && role->landlock != LANDLOCK_NONE)
		r = policy_landlock(role);
	*ret_lacking = r == -ENOSYS ? LAYER_BIT(landlock) : 0;
	return r == -ENOSYS ? 0 : r;
}

int policy_confine(enum policy_role role, struct policy_layers *ret_layers)
{
	const struct role *data = policy_role(role);
	uint32_t layers = policy_layers_of(role);
	int r;

	*ret_layers = (struct policy_layers){0, 0};
	if (!data)
		return -EINVAL;
	if (POLICY_UNCONFINED) {
		fprintf(stderr, "%s: built with a sanitizer, NOT confined\n", data->program);
		ret_layers->proven = layers;
		return prctl(PR_SET_DUMPABLE, 0) ? -errno : 0;
	}
	r = put_on(data, &ret_layers->lacking);
	if (r)
		return r;
	ret_layers->proven = prove(data, layers & ~ret_layers->lacking);
	r = POLICY_PUTS_ON(seccomp) ? policy_filter(role) : 0;
	if (r == 0 && policy_selftest(role) == 0)
		ret_layers->proven |= LAYER_BIT(seccomp);
	return r;
}

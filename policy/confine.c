/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "policy/policy_impl.h"
#include "policy/sabotage.h"

/* Without CAP_SYS_RESOURCE a limit only goes down, so a lower limit from outside stays. */
int policy_lower(unsigned int resource, uint64_t most, bool whole)
{
	struct rlimit both;

	if (getrlimit((int)resource, &both))
		return -errno;
	if (both.rlim_max > most)
		both.rlim_max = most;
	if (whole || both.rlim_cur > both.rlim_max)
		both.rlim_cur = both.rlim_max;
	if (setrlimit((int)resource, &both))
		return -errno;
	return 0;
}

int policy_limit(const struct role *role)
{
	const bool whole = role->id != ROLE_ID_OF_CALLER;
	int r = 0;

	for (const struct limit *limit = role->limits; limit->resource && r == 0; limit++)
		r = policy_lower(limit->resource, limit->value, whole);
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

/* A layer without a test is proven where it is put on. */
static bool (*const tests[LAYER_COUNT])(const struct role *role) = {
#define L(name, help)	      [LAYER_##name] = policy_has_##name,
#define policy_has_namespaces NULL
#define policy_has_seccomp    NULL
#include "policy/layers.def"
#undef policy_has_namespaces
#undef policy_has_seccomp
#undef L
};

uint32_t policy_prove(const struct role *role, uint32_t layers)
{
	uint32_t proven = 0;

	for (unsigned int i = 0; i < LAYER_COUNT; i++)
		if (layers >> i & 1 && tests[i] && tests[i](role))
			proven |= 1u << i;
	return proven;
}

/*
 * Puts the layers on, and returns those that the kernel does not have. A test notices every other
 * failure.
 */
static uint32_t put_on(const struct role *role)
{
	int r = 0;

	/* Before Linux 6.14 a program started by descriptor is named after its number. */
	prctl(PR_SET_NAME, role->program);
	if (POLICY_PUTS_ON(dumpable))
		prctl(PR_SET_DUMPABLE, 0);
	if (POLICY_PUTS_ON(limits))
		policy_limit(role);
	if (POLICY_PUTS_ON(landlock) && role->landlock != LANDLOCK_NONE)
		r = policy_landlock(role);
	if (r == -ENOSYS)
		return LAYER_BIT(landlock);
	return 0;
}

void policy_confine(enum policy_role role, struct policy_layers *ret_layers)
{
	const struct role *data = policy_role(role);
	uint32_t layers = policy_layers_of(role);

	*ret_layers = (struct policy_layers){0, 0};
	if (!data)
		return;
	if (POLICY_UNCONFINED) {
		fprintf(stderr, "%s: built with a sanitizer, NOT confined\n", data->program);
		ret_layers->proven = layers;
		prctl(PR_SET_DUMPABLE, 0);
		return;
	}
	ret_layers->lacking = put_on(data);
	ret_layers->proven = policy_prove(data, layers);
	if (POLICY_PUTS_ON(seccomp) && !policy_filter(role, false, -1) && !policy_selftest(role))
		ret_layers->proven |= LAYER_BIT(seccomp);
}

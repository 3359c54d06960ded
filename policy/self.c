/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_confine_self(). No test build leaves one of its layers off: POLICY_PUTS_ON is about what
 * the loader supervises.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "policy/policy_impl.h"

static void guard_cap_(cap_t *caps)
{
	if (*caps)
		cap_free(*caps);
}
#define guard_cap __attribute__((cleanup(guard_cap_)))

/* ---- capabilities ---- */

static bool has_capabilities(void)
{
	guard_cap cap_t held = cap_get_proc();
	guard_cap cap_t none = cap_init();

	return !held || !none || cap_compare(held, none) != 0;
}

/* Keeps those capabilities of the mask that are held, as permitted and effective. */
static int keep_capabilities(uint64_t mask)
{
	guard_cap cap_t held = cap_get_proc();
	guard_cap cap_t kept = cap_init();

	if (!held || !kept)
		return -errno;
	for (cap_value_t cap = 0; cap < 64; cap++) {
		cap_flag_value_t set;

		if (!(mask >> cap & 1))
			continue;
		if (cap_get_flag(held, cap, CAP_PERMITTED, &set) ||
		    cap_set_flag(kept, CAP_PERMITTED, 1, &cap, set) ||
		    cap_set_flag(kept, CAP_EFFECTIVE, 1, &cap, set))
			return -errno;
	}
	if (cap_set_proc(kept))
		return -errno;
	return 0;
}

/* The loader started a role with ids of its own, and dropped all its capabilities. */
static int settle_capabilities(const struct role *role)
{
	if (role->id == ROLE_ID_OF_CALLER)
		return keep_capabilities(role->capabilities);
	if (has_capabilities())
		return -EPERM;
	return 0;
}

/* ---- limits ---- */

/* The soft limit ends the process by SIGXCPU, which says why; the hard limit kills. */
static int limit_cpu(uint64_t seconds)
{
	struct rlimit both;

	if (getrlimit(RLIMIT_CPU, &both))
		return -errno;
	if (both.rlim_max > seconds + 1)
		both.rlim_max = seconds + 1;
	if (both.rlim_cur > seconds)
		both.rlim_cur = seconds;
	if (both.rlim_cur > both.rlim_max)
		both.rlim_cur = both.rlim_max;
	if (setrlimit(RLIMIT_CPU, &both))
		return -errno;
	return 0;
}

static int limit_to_budget(const struct policy_budget *budget)
{
	const struct limit limits[] = {
		{RLIMIT_AS, budget->address_space},
		{RLIMIT_DATA, budget->data},
		{RLIMIT_FSIZE, budget->file},
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits) && r == 0; i++)
		if (limits[i].value)
			r = policy_lower(limits[i].resource, limits[i].value, false);
	if (r == 0 && budget->cpu_seconds)
		r = limit_cpu(budget->cpu_seconds);
	return r;
}

static int limit(const struct role *role, const struct policy_budget *budget)
{
	int r = policy_limit(role);

	if (r == 0 && role->cpu_seconds)
		r = limit_cpu(role->cpu_seconds);
	if (r == 0 && budget)
		r = limit_to_budget(budget);
	return r;
}

unsigned int policy_cpu_seconds(enum policy_role role)
{
	const struct role *data = policy_role(role);

	if (!data)
		return 0;
	return data->cpu_seconds;
}

/* ---- both, and the filter ---- */

int policy_confine_self(enum policy_role role, const struct policy_budget *budget)
{
	const uint32_t testable = LAYER_BIT(no_new_privs) | LAYER_BIT(limits) | LAYER_BIT(dumpable);
	const struct role *data = policy_role(role);
	uint32_t wanted;
	int r;

	if (!data)
		return -EINVAL;
	r = settle_capabilities(data);
	if (r < 0 || POLICY_UNCONFINED)
		return r;
	r = limit(data, budget);
	if (r < 0)
		return r;
	if (prctl(PR_SET_DUMPABLE, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	wanted = data->layers & testable;
	if (policy_prove(data, wanted) != wanted)
		return -EPERM;
	if (data->layers & LAYER_BIT(seccomp))
		return policy_filter(role, false, -1);
	return 0;
}

/* ---- descriptors ---- */

static int compare_fds(const void *a, const void *b)
{
	const int *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

void policy_keep_descriptors(int *fds, size_t count)
{
	unsigned int from = STDERR_FILENO + 1;

	qsort(fds, count, sizeof(*fds), compare_fds);
	for (size_t i = 0; i < count; i++) {
		if (fds[i] < (int)from)
			continue;
		if (fds[i] > (int)from)
			close_range(from, (unsigned int)fds[i] - 1, 0);
		from = (unsigned int)fds[i] + 1;
	}
	close_range(from, ~0u, 0);
}

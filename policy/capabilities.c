/* SPDX-License-Identifier: Apache-2.0 */
/* policy_become(): see capabilities(7) and credentials(7) for the order of the steps. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/securebits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "policy/policy_impl.h"
#include "policy/sabotage.h"

/*
 * Turns all special behaviour of uid 0 off, and locks it. keep_caps stays off, as exec leaves it.
 */
#define SECUREBITS                                                            \
	((SECURE_ALL_BITS | SECURE_ALL_LOCKS | SECBIT_NO_CAP_AMBIENT_RAISE) & \
	 ~(unsigned int)SECBIT_KEEP_CAPS)

static void guard_cap_(cap_t *caps)
{
	if (*caps)
		cap_free(*caps);
}
#define guard_cap __attribute__((cleanup(guard_cap_)))

static int set_flag(cap_t caps, cap_flag_t flag, uint64_t mask)
{
	for (cap_value_t cap = 0; cap < 64; cap++)
		if (mask >> cap & 1 && cap_set_flag(caps, flag, 1, &cap, CAP_SET))
			return -errno;
	return 0;
}

/*
 * Returns a state in which exactly the mask is permitted, effective and inheritable. NULL: see
 * errno.
 */
static cap_t state_of(uint64_t mask)
{
	cap_t caps = cap_init();

	if (caps && (set_flag(caps, CAP_PERMITTED, mask) || set_flag(caps, CAP_EFFECTIVE, mask) ||
		     set_flag(caps, CAP_INHERITABLE, mask))) {
		cap_free(caps);
		return NULL;
	}
	return caps;
}

/* Takes the ids. The permitted capabilities stay, because the next steps need them. */
static int change_ids(unsigned int id)
{
	if (prctl(PR_SET_KEEPCAPS, 1))
		return -errno;
	if (POLICY_PUTS_ON(ids) &&
	    (setgroups(0, NULL) || setresgid(id, id, id) || setresuid(id, id, id)))
		return -errno;
	return 0;
}

/* The change of uid cleared the effective set; a capability must be inheritable to be ambient. */
static int prepare(uint64_t mask)
{
	guard_cap cap_t caps = cap_get_proc();

	if (!caps || cap_clear_flag(caps, CAP_EFFECTIVE) || cap_clear_flag(caps, CAP_INHERITABLE) ||
	    set_flag(caps, CAP_EFFECTIVE, 1ull << CAP_SETPCAP) ||
	    set_flag(caps, CAP_INHERITABLE, mask) || cap_set_proc(caps))
		return -errno;
	return 0;
}

static int empty_bounding_set(void)
{
	if (!POLICY_PUTS_ON(capabilities))
		return 0;
	for (cap_value_t cap = 0; cap_get_bound(cap) >= 0; cap++)
		if (cap_drop_bound(cap))
			return -errno;
	return 0;
}

static int set_ambient(uint64_t mask)
{
	if (cap_reset_ambient())
		return -errno;
	for (cap_value_t cap = 0; cap < 64; cap++)
		if (mask >> cap & 1 && cap_set_ambient(cap, CAP_SET))
			return -errno;
	return 0;
}

static int drop_the_rest(uint64_t mask)
{
	guard_cap cap_t caps = state_of(mask);

	if (!caps || cap_set_secbits(SECUREBITS) || cap_set_proc(caps))
		return -errno;
	if (POLICY_PUTS_ON(no_new_privs) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return 0;
}

static bool ids_are(unsigned int id)
{
	uid_t uid[3];
	gid_t gid[3];

	return !getresuid(&uid[0], &uid[1], &uid[2]) && !getresgid(&gid[0], &gid[1], &gid[2]) &&
	       uid[0] == id && uid[1] == id && uid[2] == id && gid[0] == id && gid[1] == id &&
	       gid[2] == id && getgroups(0, NULL) == 0;
}

static bool capabilities_are(uint64_t mask)
{
	guard_cap cap_t have = cap_get_proc();
	guard_cap cap_t want = state_of(mask);

	if (!have || !want || cap_compare(have, want) != 0)
		return false;
	for (cap_value_t cap = 0; cap_get_bound(cap) >= 0; cap++)
		if (cap_get_bound(cap) || (uint64_t)cap_get_ambient(cap) != (mask >> cap & 1))
			return false;
	return true;
}

/* Asks the kernel, and tries the way back. */
bool policy_has_ids(const struct role *role)
{
	return ids_are(role->id) && setresuid(0, 0, 0) && setresgid(0, 0, 0);
}

bool policy_has_capabilities(const struct role *role)
{
	return capabilities_are(role->capabilities) &&
	       (unsigned int)cap_get_secbits() == SECUREBITS && prctl(PR_SET_KEEPCAPS, 1);
}

bool policy_has_no_new_privs(const struct role *role)
{
	(void)role;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

int policy_become(enum policy_role role)
{
	const struct role *data = policy_role(role);
	int r;

	if (!data || data->id == ROLE_ID_OF_CALLER)
		return -EINVAL;
	r = change_ids(data->id);
	if (r == 0)
		r = prepare(data->capabilities);
	if (r == 0)
		r = empty_bounding_set();
	if (r == 0)
		r = set_ambient(data->capabilities);
	if (r == 0)
		r = drop_the_rest(data->capabilities);
	if (r < 0)
		return r;
	if (!policy_has_ids(data) || !policy_has_capabilities(data))
		return -EPERM;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <unistd.h>

#include "policy/policy.h"

#define ID_MAX ((uid_t)-1 - 1)

static bool id_of(const char *text, uid_t *ret_id)
{
	unsigned long value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	value = strtoul(text, &end, 10);
	if (*end || value > ID_MAX)
		return false;
	*ret_id = (uid_t)value;
	return true;
}

int policy_user_read(struct policy_user *ret_user)
{
	struct policy_user user = {.uid = getuid(), .gid = getgid()};

	/* Only sudo, as root, is believed about who stands behind it. */
	if (user.uid == 0 && getenv("SUDO_UID")) {
		user.name = getenv("SUDO_USER");
		if (!user.name || !id_of(getenv("SUDO_UID"), &user.uid) ||
		    !id_of(getenv("SUDO_GID"), &user.gid))
			return -EINVAL;
	}
	*ret_user = user;
	return 0;
}

/* Drops all capabilities, and the ambient ones with them. */
static int drop_capabilities(void)
{
	cap_t none = cap_init();
	int r = 0;

	if (!none || cap_set_proc(none))
		r = -errno;
	cap_free(none);
	return r;
}

int policy_user_become(const struct policy_user *user)
{
	const uid_t uid = user->uid;
	const gid_t gid = user->gid;

	if (setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return -errno;
	if (uid == 0)
		return 0;
	return drop_capabilities();
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "policy/policy.h"

#define ID_MAX ((uid_t)-1 - 1)

static bool id_of(const char *text, uid_t *ret_id)
{
	char *end;
	unsigned long value = text ? strtoul(text, &end, 10) : 0;

	if (!text || *text < '0' || *text > '9' || *end || value > ID_MAX)
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

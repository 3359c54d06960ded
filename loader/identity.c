/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/identity.h"

#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

static bool parse_id(const char *text, unsigned int *ret_id)
{
	char *end;
	unsigned long value;

	if (!text || *text < '0' || *text > '9')
		return false;
	value = strtoul(text, &end, 10);
	*ret_id = (unsigned int)value;
	return !*end && value < (uid_t)-1;
}

int identity_read(struct identity *ret_identity)
{
	struct identity identity = {.uid = getuid(), .gid = getgid()};

	/* Only sudo, as root, is believed about who stands behind it. */
	if (identity.uid == 0 && getenv("SUDO_UID")) {
		identity.user = getenv("SUDO_USER");
		if (!identity.user || !parse_id(getenv("SUDO_UID"), &identity.uid) ||
		    !parse_id(getenv("SUDO_GID"), &identity.gid))
			return -EINVAL;
	}
	*ret_identity = identity;
	return 0;
}

static int drop_capabilities(void)
{
	cap_t none = cap_init();
	int r = !none || cap_reset_ambient() || cap_set_proc(none) ? -errno : 0;

	cap_free(none);
	return r;
}

int identity_become(const struct identity *identity)
{
	const uid_t uid = identity->uid;
	const gid_t gid = identity->gid;

	if ((identity->user && initgroups(identity->user, gid)) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid))
		return -errno;
	return uid ? drop_capabilities() : 0;
}

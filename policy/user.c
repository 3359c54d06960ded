/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/identity.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <unistd.h>

#include "loader/options.h"

#define ID_MAX ((uid_t)-1 - 1)

int identity_read(struct identity *ret_identity)
{
	struct identity identity = {.uid = getuid(), .gid = getgid()};
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");

	/* Only sudo, as root, is believed about who stands behind it. */
	if (identity.uid == 0 && uid) {
		identity.user = getenv("SUDO_USER");
		if (!identity.user || !gid || !options_number(uid, 0, ID_MAX, &identity.uid) ||
		    !options_number(gid, 0, ID_MAX, &identity.gid))
			return -EINVAL;
	}
	*ret_identity = identity;
	return 0;
}

static int drop_capabilities(void)
{
	cap_t none = cap_init();
	int r = !none || cap_set_proc(none) ? -errno : 0; /* the ambient ones go with them */

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

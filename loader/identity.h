/* SPDX-License-Identifier: Apache-2.0 */
/* Who asked for the recording: the user behind sudo, else who runs us. */
#ifndef KEYHOLE_LOADER_IDENTITY_H
#define KEYHOLE_LOADER_IDENTITY_H

#include <sys/types.h>

struct identity {
	uid_t uid;
	gid_t gid;
	const char *user; /* login name for the groups, from the environment; NULL: keep them */
};

/* 0, or -EINVAL when sudo's variables are not what sudo sets. */
int identity_read(struct identity *ret_identity);

/* In a forked child: their ids and groups, and no capability unless they are root. */
int identity_become(const struct identity *identity);

#endif

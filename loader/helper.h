/* SPDX-License-Identifier: Apache-2.0 */
/* Starts programs of helper/, which need neither the loader's rights nor its memory. */
#ifndef KEYHOLE_LOADER_HELPER_H
#define KEYHOLE_LOADER_HELPER_H

#include <sys/types.h>

#include "ipc/channel.h"
#include "policy/policy.h"

/*
 * Starts the party's program. With a user, the program runs as that user, with their environment.
 * Without a user (NULL), the program has the identity that the loader will have without rights. Its
 * environment then has TZ and the build, for keyhole-audit SUDO_USER, and for keyhole-options what
 * says where profiles go. Returns the pid, or a
 * negative errno that was logged. The child logs its own errors, and its end ends the channel.
 */
pid_t helper_start(enum message_party party, const char *const *argv,
		   const struct policy_user *user, struct channel *ret_channel);

#endif

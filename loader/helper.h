/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of helper/: what needs no right of the loader's, and none of its memory. */
#ifndef KEYHOLE_LOADER_HELPER_H
#define KEYHOLE_LOADER_HELPER_H

#include <sys/types.h>

#include "ipc/channel.h"
#include "policy/policy.h"

/*
 * Starts the party's program as that user with their environment, or (NULL) as the loader is after
 * it gave its rights up, with TZ and the build alone. Returns the pid, or a negative errno that was
 * logged; what fails in the child is logged there, and ends the channel.
 */
pid_t helper_start(enum message_party party, const char *const *argv,
		   const struct policy_user *user, struct channel *ret_channel);

#endif

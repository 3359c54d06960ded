/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker's answer to CONTEXT: what a process says of itself. This is the one place where the
 * broker reads memory of a process. The kernel's own list must name the mapping OTEL_CTX, and the
 * process alone says where its payload is (OTEP 4719, version 2). Of the environment, the broker
 * gives the variables that the policy names, and reads none when it names none.
 */
#ifndef KEYHOLE_LOADER_BROKER_CONTEXT_H
#define KEYHOLE_LOADER_BROKER_CONTEXT_H

#include <stdbool.h>

#include "ipc/messages.h"
#include "loader/broker/environment.h"

struct granter;

struct contexts {
	struct granter *granter; /* borrowed */
	struct environment_names variables;
	bool no_contexts; /* by a rule of the policy */
	char bytes[CONTEXT_BYTES_MAX];
};

/*
 * Returns a pipe that holds the bytes, or a negative errno:
 *
 *   -EPERM        a rule of the policy forbids it
 *   -EINVAL       no such mapping may be; the mapping begins with no context of version 2
 *   -EOPNOTSUPP   the mapping has another name; the policy names no variable
 *   -EBUSY        the process writes its context just now
 *   -E2BIG        the payload, or the list of mappings, is too long
 *   -ENODATA      there is nothing: no payload, none of the variables
 *   others        as of grant_check()
 */
int context_answer(struct contexts *contexts, const struct message_context *request);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker's answer to CONTEXT: what a process says of itself. This is the one place where the
 * broker reads memory of a process. The kernel's own list must name the mapping OTEL_CTX, and the
 * process alone says where its payload is (OTEP 4719, version 2). An environment is read only when
 * the policy names variables, and the broker gives no other ones.
 */
#ifndef KEYHOLE_LOADER_BROKER_CONTEXT_H
#define KEYHOLE_LOADER_BROKER_CONTEXT_H

#include <stdbool.h>

#include "ipc/messages.h"
#include "loader/broker/environment.h"

struct granter;
struct mounts;

struct contexts {
	struct granter *granter; /* borrowed, as the mounts */
	struct mounts *mounts;
	struct environment_names variables;
	bool no_contexts;  /* by a rule of the policy */
	bool has_prepared; /* a grant, for context_commit() */
	char bytes[CONTEXT_BYTES_MAX];
};

/*
 * Returns a pipe that holds the bytes, or a negative errno:
 *
 *   -EPERM        a rule of the policy forbids it
 *   -EINVAL       no such mapping may be; the mapping begins with no context of version 2; the
 *                 payload's address may not be
 *   -EOPNOTSUPP   the mapping has another name; the policy names no variable
 *   -EBUSY        the process writes its context just now
 *   -E2BIG        the payload, or the list of mappings, is too long
 *   -ENODATA      there is nothing: no payload, none of the variables
 *   -ENOENT       no mapping has these bounds; the payload is in no mapping
 *   -EACCES       the mapping is a file's; the payload is in no single mapping, or in that of a
 *                 file on a file system that may not answer; a deny rule is about the process; its
 *                 program has a set-id bit
 *   -EIO          the memory cannot be read
 *   -ENOSPC       a pipe has no room for the bytes
 *   others        as of grant_check_reading()
 */
int context_answer(struct contexts *contexts, const struct message_context *request);
/*
 * Lets BPF read the contexts of threads where the answer was the context of their process. A map
 * that is full meanwhile grants nothing.
 */
void context_commit(const struct contexts *contexts);

#endif

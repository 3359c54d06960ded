/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker's answer to GRANT: may BPF read the memory of a process that runs code of a language's
 * runtime? The worker says where that runtime is mapped. The broker believes nothing of it, and
 * reads no byte of the process to decide.
 */
#ifndef KEYHOLE_LOADER_BROKER_GRANT_H
#define KEYHOLE_LOADER_BROKER_GRANT_H

#include <stdint.h>

#include "ipc/messages.h"
#include "loader/broker/charges.h"
#include "loader/broker/grant_table.h"

struct mounts;

struct granter {
	struct grant_table table;
	struct message_grant_rule rules[GRANT_RULES_MAX];
	uint32_t rule_count;
	const struct mounts *mounts;
	/* what the last check has found, for grant_commit() */
	uint64_t family;
	struct charge_group owner;
};

/* Takes a rule of the policy. Returns 0, or -EPROTO: there is no such rule, or too many. */
int grant_take_rule(struct granter *granter, const struct message_grant_rule *rule);

/*
 * Checks the claim. Returns 0 or a negative errno; sets the identity of the mapped file where that
 * is known.
 *
 *   -EINVAL   no such pid or mapping may be
 *   -ENOENT   BPF does not follow the process; it has no such thread, or no such mapping
 *   -ESRCH    the process is of another generation, or starts a program
 *   -EACCES   a deny rule covers the process; the mapping is no code; its file is not a regular
 *             one, or open for writing; the file or the program has a set-id bit
 *   -EOPNOTSUPP  the file's name is not that of a runtime
 *   -EPERM    a rule of the policy denies the memory of the process
 *   others    as of grant_table_make_room()
 */
int grant_check(struct granter *granter, const struct message_grant *request,
		struct message_object_reply *ret_reply);
/*
 * Checks that the process is of that generation, and that neither a deny rule nor a set-id bit of
 * its program forbids reading its memory. Returns as grant_check(). Call it once the file that is
 * to be read is open: then the file is that of the generation.
 */
int grant_check_reading(struct granter *granter, uint32_t pid, uint64_t generation);
/*
 * Finds room for a grant of the contexts of threads, once grant_check_reading() has found nothing
 * against the process. Returns as grant_table_make_room().
 */
int grant_prepare_context(struct granter *granter);
/* Grants what the last check has found. Returns 0 or a negative errno. */
int grant_commit(const struct granter *granter);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy files. The loader opens them while privileged; keyhole-rules, which is not, reads.
 */
#ifndef KEYHOLE_LOADER_RULES_H
#define KEYHOLE_LOADER_RULES_H

#include "bpf/abi.h"
#include "ipc/messages.h"

struct rules {
	struct message_policy_keys said; /* hash empty: there is no policy file */
	int keys; /* file of struct policy_rule, or -1; owned by programs_load() from there on */
	uint32_t memory_count;
	struct message_grant_rule memory[GRANT_RULES_MAX]; /* for the brokers */
};

/*
 * Has the administrator's policy file read, if there is one, and the file that adds to it, if that
 * is not NULL. verb: RULES_VERB_CHECK has the rules of one file alone printed: of the given one, or
 * of the administrator's, which must exist then. RULES_VERB_COMM refuses rules that hide names of
 * processes and threads. RULES_VERB_RECORD has neither effect. Returns an exit status; errors were
 * logged.
 */
enum exit_status rules_read(const char *file, const char *verb, struct rules *ret_rules);

/*
 * Reads the deny rules from rules->keys. Returns their number, which is 0 for the file -1; or a
 * negative errno. -EIO: the file cannot be read to its end, or has a part of a key; -E2BIG: the
 * file has too many keys.
 */
int rules_read_keys(int file, struct deny_key ret_keys[DENY_KEYS_MAX]);

#endif

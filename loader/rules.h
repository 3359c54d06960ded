/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy file. The loader opens the file while privileged; keyhole-rules, which is not, reads.
 */
#ifndef KEYHOLE_LOADER_RULES_H
#define KEYHOLE_LOADER_RULES_H

#include "bpf/abi.h"
#include "ipc/messages.h"

struct rules {
	struct message_policy_keys said; /* hash empty: there is no policy file */
	int keys; /* file of struct deny_key, or -1; owned by programs_load() from there on */
};

/*
 * Has the policy file read. file: NULL for the default file, which need not exist except for
 * RULES_VERB_CHECK. verb: RULES_VERB_CHECK has the rules printed; RULES_VERB_COMM refuses rules
 * that hide names of processes and threads; RULES_VERB_RECORD has neither effect. Returns an exit
 * status; errors were logged.
 */
enum exit_status rules_read(const char *file, const char *verb, struct rules *ret_rules);

/*
 * Reads the deny rules from rules->keys. Returns their number, which is 0 for the file -1; or a
 * negative errno. -EIO: the file cannot be read to its end, or has a part of a key; -E2BIG: the
 * file has too many keys.
 */
int rules_read_keys(int file, struct deny_key ret_keys[DENY_KEYS_MAX]);

#endif

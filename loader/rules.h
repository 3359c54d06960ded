/* SPDX-License-Identifier: Apache-2.0 */
/* The policy file: opened here while privileged, read by a process that is not, keyhole-rules. */
#ifndef KEYHOLE_LOADER_RULES_H
#define KEYHOLE_LOADER_RULES_H

#include "ipc/messages.h"

struct rules {
	struct message_policy_keys said; /* hash empty: there is no file */
	int keys; /* file of struct deny_key, or -1; programs_load() closes it */
};

/*
 * file NULL: the default one, which need not exist but for "check-config", which has the rules
 * printed. "record", or "record --comm" where names of processes and threads must not be hidden.
 * An exit status: what is wrong was said.
 */
int rules_read(const char *file, const char *verb, struct rules *ret_rules);

#endif

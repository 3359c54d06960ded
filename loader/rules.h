/* SPDX-License-Identifier: Apache-2.0 */
/* The policy file: who may give it, and what its rows, which keyhole-policy reads, stand for. */
#ifndef KEYHOLE_LOADER_RULES_H
#define KEYHOLE_LOADER_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "ipc/channel.h"

#define RULES_FILE "/etc/keyhole/policy.conf" /* unless another one is named */

struct rules {
	struct deny_key keys[DENY_KEYS_MAX];
	uint32_t count, kinds;	       /* kinds: DENY_BIT() of those that are there */
	uint32_t frequency_max, names; /* 0: no limit; NAMES_BITS() */
	char hash[POLICY_TEXT_BYTES];  /* SHA-256 of the policy, hex; empty: there is no file */
};

/* Opens one that nobody but root can have written. A descriptor or a negative errno, said. */
int rules_open(const char *file);

/*
 * Takes the rows from the child and looks up what they name; prints them to standard output if
 * asked. 0, or a negative errno when the file, or a row, is not as it must be: said, with its line.
 */
int rules_receive(struct channel *channel, const char *file, bool print, struct rules *ret_rules);

#endif

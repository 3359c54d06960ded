/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the policy file -> keys of BPF's table of rules. */
#ifndef KEYHOLE_HELPER_RULES_KEYS_H
#define KEYHOLE_HELPER_RULES_KEYS_H

#include <stdbool.h>

#include "bpf/abi.h"
#include "helper/rules/parser.h"

_Static_assert((int)ROW_UID == DENY_UID && (int)ROW_CGROUP == DENY_CGROUP &&
		       (int)ROW_COMM == DENY_COMM && (int)ROW_EXECUTABLE == DENY_EXECUTABLE,
	       "the first kinds of rows are those of keys");

/* Whether its key is what its path leads to. */
static inline bool row_has_path(const struct policy_row *row)
{
	return row->kind == ROW_CGROUP || row->kind == ROW_EXECUTABLE;
}

/*
 * Of a row that denies. fd: what its path leads to, opened with O_PATH is enough; it stays the
 * caller's. NULL, or why it is none, static or of strerror().
 */
const char *key_of_row(const struct policy_row *row, int fd, struct deny_key *ret_key);

#endif

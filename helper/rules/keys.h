/* SPDX-License-Identifier: Apache-2.0 */
/* Makes keys for BPF's table of rules from rows of the policy file. */
#ifndef KEYHOLE_HELPER_RULES_KEYS_H
#define KEYHOLE_HELPER_RULES_KEYS_H

#include <stdbool.h>

#include "bpf/abi.h"
#include "helper/rules/parser.h"

_Static_assert((int)ROW_UID == DENY_UID && (int)ROW_CGROUP == DENY_CGROUP &&
		       (int)ROW_COMM == DENY_COMM && (int)ROW_EXECUTABLE == DENY_EXECUTABLE,
	       "the first kinds of rows are those of keys");

/* Returns whether the row's key is the object at its path. */
static inline bool row_has_path(const struct policy_row *row)
{
	return row->kind == ROW_CGROUP || row->kind == ROW_EXECUTABLE ||
	       row->kind == ROW_MEMORY_CGROUP || row->kind == ROW_MEMORY_EXECUTABLE;
}

/*
 * Makes the key of a deny rule, or of a rule that denies memory. fd: the object at its path; O_PATH
 * is enough, and the caller closes fd. Returns NULL, or the problem as a static text or one of
 * strerror().
 */
const char *key_of_row(const struct policy_row *row, int fd, struct deny_key *ret_key);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The suite forces this header into the files of policy/. The header lets the suite leave layers
 * off at run time, to try each alone. The rest of policy/ is as in the product.
 */
#ifndef KEYHOLE_TESTS_MASK_H
#define KEYHOLE_TESTS_MASK_H

#include "policy/sabotage.h"

extern uint32_t escape_off; /* bit per layer */

#undef POLICY_PUTS_ON
#define POLICY_PUTS_ON(name) (!(escape_off >> LAYER_##name & 1))

/* The root alone: of the namespaces the first, that of mounts, because the host's is no place. */
#undef POLICY_ISOLATES
#define POLICY_ISOLATES(name)	   ESCAPE_ISOLATES_##name
#define ESCAPE_ISOLATES_pid	   POLICY_PUTS_ON(pid)
#define ESCAPE_ISOLATES_namespaces (POLICY_PUTS_ON(namespaces) || (POLICY_PUTS_ON(root) && i == 0))

/* The functions of policy/, which those of masked.c call. */
int real_become(enum policy_role role);
unsigned int real_selftest(enum policy_role role);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test build defines POLICY_SABOTAGE, leaves that layer off and does not say so: no sample may be
 * taken then. Private to policy/, and included by the files that put a layer on.
 */
#ifndef KEYHOLE_POLICY_SABOTAGE_H
#define KEYHOLE_POLICY_SABOTAGE_H

#include "policy/policy_impl.h"

#ifndef POLICY_SABOTAGE
#define POLICY_SABOTAGE LAYER_COUNT
#endif
#define POLICY_PUTS_ON(name)  ((int)LAYER_##name != (int)POLICY_SABOTAGE)
#define POLICY_ISOLATES(name) (!POLICY_UNCONFINED && POLICY_PUTS_ON(name))

#endif

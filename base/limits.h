/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers the limits of base/limits.def, whose hits BPF and the worker count. */
#ifndef KEYHOLE_BASE_LIMITS_H
#define KEYHOLE_BASE_LIMITS_H

enum summary_limit {
#define L(name, help) LIMIT_##name,
#include "base/limits.def"
#undef L
	LIMIT_COUNT
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What samples depend on and found no room, see base/limits.def: BPF and worker count it. */
#ifndef KEYHOLE_BASE_LIMITS_H
#define KEYHOLE_BASE_LIMITS_H

enum summary_limit {
#define L(name, help) LIMIT_##name,
#include "base/limits.def"
#undef L
	LIMIT_COUNT
};

#endif

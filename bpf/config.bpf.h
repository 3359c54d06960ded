/* SPDX-License-Identifier: GPL-2.0-only */
/* Set by the loader before load; the verifier sees constants. */
#ifndef KEYHOLE_BPF_CONFIG_BPF_H
#define KEYHOLE_BPF_CONFIG_BPF_H

#include "bpf/abi.h"

/* From the interrupt on, kernel part included. */
#ifndef WALK_BUDGET_NS
#define WALK_BUDGET_NS 100000
#endif

enum filter_mode {
	FILTER_ALL,
	FILTER_TARGETS,
	FILTER_CGROUP
};
const volatile u32 ring_bytes = RING_BYTES_MIN;
const volatile u32 filter_mode = FILTER_ALL;
const volatile u32 kernel_range_count = 0;
const volatile u32 cpu_count = 1;
const volatile u64 cache_multiplier = 0x9e3779b97f4a7c15ull;
const volatile u64 walk_budget_ns = WALK_BUDGET_NS;

#endif

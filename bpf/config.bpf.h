/* SPDX-License-Identifier: GPL-2.0-only */
/* Set by the loader before load; the verifier sees constants. */
#ifndef KEYHOLE_BPF_CONFIG_BPF_H
#define KEYHOLE_BPF_CONFIG_BPF_H

#include "bpf/abi.h"

/*
 * From the interrupt on, kernel part included. With what a frame takes after the last look at the
 * clock, and the record, 99.9 % of samples take no more than 60 us.
 */
#ifndef WALK_BUDGET_NS
#define WALK_BUDGET_NS 45000
#endif

/*
 * The kernel's own stack walk cannot look at the clock. So many frames are taken however long it
 * takes, cold 15 us and 0.5 us each; all others if these took no more than a quarter of the budget.
 */
#ifndef KERNEL_FRAMES_FIRST
#define KERNEL_FRAMES_FIRST 64
#endif
#define KERNEL_FIRST_SHARE 4
/* In the first half of the budget the kernel is asked for names: about 1 us each, but for those of
 * a large module, whose symbols it looks through one by one. */
#define KERNEL_NAMES_SHARE 2
_Static_assert(KERNEL_FRAMES_FIRST <= RECORD_KERNEL_FRAMES_MAX, "there is a place for them");

/* Of the worker. Raised by the loader alone, while no event is enabled, once a new one is ready. */
volatile u32 worker_epoch;

const volatile u32 ring_bytes = RING_BYTES_MIN;
const volatile u32 filter_mode = FILTER_ALL;
const volatile u32 kernel_range_count = 0;
const volatile u32 deny_kinds = 0; /* DENY_BIT() of those that there are */
const volatile struct sample_filter sample_filter = {
	.uid = {[0 ... FILTER_PLACES - 1] = FILTER_UID_NONE}};
const volatile u32 cpu_count = 1;
const volatile u64 cache_multiplier = 0x9e3779b97f4a7c15ull;
const volatile u64 walk_budget_ns = WALK_BUDGET_NS;
/*
 * Where samples are rare nothing is in the caches, and an ordinary deep stack may take longer: then
 * some walks (WALK_EXTEND_EVERY_NS) may take 2.5 times as long. 0 at high rates.
 */
const volatile u64 walk_extension_ns = WALK_BUDGET_NS / 2 * 3;
/*
 * Of samples that come as often as what they count, a CPU takes one in so many ns on average, and
 * those of SAMPLES_SAVED_NS at once. 0: they come at a frequency.
 */
#ifndef SAMPLES_SAVED_NS
#define SAMPLES_SAVED_NS 1000000000ull
#endif
const volatile u64 sample_interval_ns = 0;

const char symbol_format[4] = "%ps"; /* of bpf_snprintf(): the name of a function */

#endif

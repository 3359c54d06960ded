/* SPDX-License-Identifier: GPL-2.0-only */
/* Configuration that the loader sets before load; the verifier sees constants. */
#ifndef KEYHOLE_BPF_CONFIG_BPF_H
#define KEYHOLE_BPF_CONFIG_BPF_H

#include "bpf/abi.h"

/*
 * The budget counts from the interrupt and includes the kernel part. A frame after the last look at
 * the clock, and the record, come on top: 99.9 % of samples take no more than 60 us.
 */
#ifndef WALK_BUDGET_NS
#define WALK_BUDGET_NS 45000
#endif

/*
 * The first KERNEL_FRAMES_FIRST frames of the kernel's stack are taken in any case. The kernel's
 * own walk cannot look at the clock; cold, these frames take 15 us and 0.5 us each. The other
 * frames are taken if the first ones took no more than a quarter of the budget.
 */
#ifndef KERNEL_FRAMES_FIRST
#define KERNEL_FRAMES_FIRST 64
#endif
#define KERNEL_FIRST_SHARE 4
/*
 * BPF asks the kernel for names in the first half of the budget. A name takes about 1 us, and more
 * in a large module, whose symbols the kernel looks through one by one.
 */
#define KERNEL_NAMES_SHARE 2
_Static_assert(KERNEL_FRAMES_FIRST <= RECORD_KERNEL_FRAMES_MAX, "there is a place for them");

/*
 * The worker's epoch. Only the loader raises it, once a new worker is ready, with no event enabled
 * and no draw of threads that leave their CPU.
 */
volatile u32 worker_epoch;
/* Flag: sampling has stopped. Interrupts only finish the kept samples, which the loader awaits. */
volatile u32 draining;
/* Flag: samples are left out for some time, and count as filtered. The loader alone writes it. */
volatile u32 resting;
volatile u32 kept_count; /* samples that are kept at this moment; BPF alone writes it */

const volatile u32 ring_bytes = RING_BYTES_MIN;
const volatile u32 filter_mode = FILTER_ALL;
const volatile u32 kernel_range_count = 0;
const volatile u32 deny_kinds = 0; /* DENY_BIT() of the kinds in use */
const volatile struct sample_filter sample_filter = {
	.uid = {[0 ... FILTER_PLACES - 1] = FILTER_UID_NONE}};
const volatile u32 go_stacks = 1; /* flag: walks cross from stack to stack of Go (walk/go.bpf.h) */
const volatile u32 go_labels = 0; /* flag: samples have the labels of their goroutine */
const volatile u32 off_cpu = OFF_MODE_NONE; /* enum off_mode */
const volatile u32 cpu_count = 1;
/* NEWER_* of the running kernel, for walk_for. CO-RE would search all types of the kernel. */
const volatile u32 newer_helpers = 0;
const volatile u32 kept_slots = KEPT_SLOTS_MIN; /* of a CPU */
const volatile u64 cache_multiplier = 0x9e3779b97f4a7c15ull;
const volatile u64 walk_budget_ns = WALK_BUDGET_NS;
/*
 * Where samples are rare, the CPU's caches are cold and an ordinary deep stack takes longer. So
 * some walks (WALK_EXTEND_EVERY_NS) may take 2.5 times as long. 0 at high rates.
 */
const volatile u64 walk_extension_ns = WALK_BUDGET_NS / 2 * 3;
/*
 * Bounds samples that come as often as the counted event. On average a CPU takes one sample in
 * sample_interval_ns, and at once as many as SAMPLES_SAVED_NS allow. 0: samples come at a
 * frequency.
 */
#ifndef SAMPLES_SAVED_NS
#define SAMPLES_SAVED_NS 1000000000ull
#endif
const volatile u64 sample_interval_ns = 0;

const char symbol_format[4] = "%ps"; /* for bpf_snprintf(): the name of a function */

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All hooks have these: counters, and the ring of events. Half of the ring is kept for the life of
 * processes.
 */
#ifndef KEYHOLE_BPF_EVENTS_BPF_H
#define KEYHOLE_BPF_EVENTS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/base.bpf.h"
#include "bpf/shared_maps.bpf.h"

#define WAKE_EVERY_NS 20000000ull /* of a CPU: that its hooks wake the worker */

INLINE struct counters *counters_now(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&counters, &cpu);
}

INLINE int events_half_full(void)
{
	return bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > EVENT_RING_BYTES / 2;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The ring of events. Half of it is kept for the life of processes. */
#ifndef KEYHOLE_BPF_EVENTS_BPF_H
#define KEYHOLE_BPF_EVENTS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/base.bpf.h"
#include "bpf/shared_maps.bpf.h"

INLINE int events_half_full(void)
{
	return bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > EVENT_RING_BYTES / 2;
}

#endif

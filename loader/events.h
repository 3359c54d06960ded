/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf events. Each online CPU has a sampling event and a side-band event, which tells of new
 * mappings and names. Only side-band events may be handed out: the holder of a sampling event can
 * raise its rate.
 */
#ifndef KEYHOLE_LOADER_EVENTS_H
#define KEYHOLE_LOADER_EVENTS_H

#include <stdint.h>

#include "bpf/abi.h"
#include "ipc/messages.h"

#ifndef EVENTS_SIDEBAND_BYTES
#define EVENTS_SIDEBAND_BYTES (1u << 17) /* data part of each side-band ring */
#endif

#define EVENTS_NO_SIDEBAND  0u /* nobody asks for mappings */
#define EVENTS_WAKE_AT_ONCE 1u
/* Where only some processes are wanted, most of the side-band is of others. BPF wakes the worker
 * for the wanted ones. */
#define EVENTS_WAKE_AT_HALF (EVENTS_SIDEBAND_BYTES / 2)

struct events {
	int sample[ABI_MAX_CPUS];   /* -1: CPU not online */
	int sideband[ABI_MAX_CPUS]; /* the same */
	uint32_t cpus;		    /* entries */
	const char *name;	    /* of the sampling event; static; NULL: unknown */
};

/*
 * Opens all events; the sampling events are disabled and have the program attached. Raises a
 * clock's period to what the frequency allows. Returns 0 or a negative errno. -EPROTO: the event is
 * unknown or the period too small; -ENOENT, -EOPNOTSUPP: this machine lacks the event.
 *
 * watermark: bytes of side-band on a CPU that wake the worker, or EVENTS_NO_SIDEBAND.
 */
int events_open(uint32_t cpus, struct message_sampling *sampling, int program, uint32_t watermark,
		struct events *ret_events);

/* Opens the clock's event alone, at a frequency, disabled and with the program. 0 or an errno. */
int events_open_clock(uint32_t cpus, uint32_t frequency, int program, struct events *ret_events);

/* Enables all sampling events. Returns 0 or a negative errno. */
int events_enable(const struct events *events);
void events_disable(const struct events *events);

#endif

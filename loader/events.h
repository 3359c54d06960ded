/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf events: per online CPU one that samples, and one that tells of new mappings and names
 * (side-band). Only the second kind may be handed out: a holder can raise the first one's rate.
 */
#ifndef KEYHOLE_LOADER_EVENTS_H
#define KEYHOLE_LOADER_EVENTS_H

#include <stdint.h>

#include "bpf/abi.h"
#include "ipc/messages.h"

#ifndef EVENTS_SIDEBAND_BYTES
#define EVENTS_SIDEBAND_BYTES (1u << 17) /* data part of each side-band ring */
#endif

struct events {
	int sample[ABI_MAX_CPUS];   /* -1: CPU not online */
	int sideband[ABI_MAX_CPUS]; /* the same */
	uint32_t cpus;		    /* entries */
	const char *name;	    /* of the sampling event */
};

/*
 * Opens all, the sampling ones disabled, with program attached. Returns 0 or a negative errno:
 * -EPROTO: no such event, or not with that period; -ENOENT or -EOPNOTSUPP: this machine has none.
 * A clock's period is raised to what the frequency allows.
 */
int events_open(uint32_t cpus, struct message_sampling *sampling, int program,
		struct events *ret_events);

int events_enable(const struct events *events);
void events_disable(const struct events *events);

#endif

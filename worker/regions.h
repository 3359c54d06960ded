/* SPDX-License-Identifier: Apache-2.0 */
/* Maps the memory behind the loader's descriptors, and keeps those that must stay open. */
#ifndef KEYHOLE_WORKER_REGIONS_H
#define KEYHOLE_WORKER_REGIONS_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/destination.h"
#include "ipc/messages.h"
#include "worker/account/energy.h"

struct sideband;
struct session;
struct session_parts;

struct regions {
	struct message_config config;
	size_t page;
	void *rings, *tails, *processes, *event_consumer, *event_producer;
	void *accounts, *account_cpus; /* OPTIONS_STAT or OPTIONS_ACCOUNTS */
	struct energy energy;	       /* OPTIONS_STAT */
	void **segments;	       /* in order; the session takes them */
	uint32_t segment_count;
	struct sideband *sidebands;
	int *sideband_fds; /* owned; the event loop waits for them and for event_fd */
	size_t sideband_count;
	/* owned; -1: not given */
	int event_fd, symbols_fd, broker_fd, exporter_fd, debug_fd, spill_fd;
	struct resource_words resource; /* all 0: not given */
};

void regions_init(struct regions *regions, size_t page);
/* Comes before any descriptor. Returns 0, -EINVAL or -ENOMEM. */
int regions_configure(struct regions *regions, const struct message_config *config);
/* Takes fd in any case. Returns 0 or a negative errno. */
int regions_add(struct regions *regions, const struct message_descriptor *descriptor, int fd);
/* Checks that nothing is missing. Returns 0 or -ENODATA. */
int regions_complete(const struct regions *regions);
/* Fills in the mapped memory. */
void regions_describe(struct regions *regions, struct session_parts *parts);
int regions_give_segments(struct regions *regions, struct session *session);

#endif

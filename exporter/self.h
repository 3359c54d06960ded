/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells of the agent itself: takes the numbers of loader and worker, and shows all of them where
 * the loader wants that.
 */
#ifndef KEYHOLE_EXPORTER_SELF_H
#define KEYHOLE_EXPORTER_SELF_H

#include "exporter/metrics/figures.h"
#include "ipc/channel.h"

struct event_base;
struct server;
struct site;

struct self {
	struct event_base *base;
	struct server *server; /* borrowed */
	struct figures figures;
	struct site *site; /* NULL: there is no page */
};

void self_init(struct self *ret_self, struct event_base *base, struct server *server);
void self_release(struct self *self);

/* Returns whether self_take() takes messages of the type. */
bool self_wants(const struct message *message);
/*
 * Takes PAGE_LISTENER, COUNTERS, CPU_TIME, STATUS or WORK, with its descriptor. Returns 0, -EPROTO
 * for what the sender cannot have meant, or another negative errno.
 */
int self_take(struct self *self, struct message *message);

#endif

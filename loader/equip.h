/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The equipment of children. The loader checks a spawned child first, and then gives the child its
 * descriptors and the channels to its peers. The start of a recording and a later replacement of a
 * child share these functions.
 */
#ifndef KEYHOLE_LOADER_EQUIP_H
#define KEYHOLE_LOADER_EQUIP_H

#include "ipc/exit_status.h"
#include "ipc/messages.h"

struct child;
struct recording;

enum equip_result {
	EQUIP_READY,
	EQUIP_ABSENT,  /* the child was not started, ended, or said nothing in time */
	EQUIP_REFUSED, /* a stranger, a violation of the protocol, or a layer that is missing */
};

/*
 * Waits up to 5 s until a spawned child is ready, and checks its role, its build and its layers.
 * Explains a failure. A recording must not sample beside a refused child, which may still run.
 */
enum equip_result equip_expect_ready(struct recording *rec, struct child *child);
/* Expects each child of a recording's start. Explains a failure. */
enum exit_status equip_expect_all(struct recording *rec);

/*
 * Gives the exporter the output and a channel to the worker; the exporter must be ready. Returns 0
 * or a negative errno; -EPIPE: the exporter or the worker has ended.
 */
int equip_exporter(struct recording *rec);

/*
 * Gives a broker its maps and channels; the broker must be ready. lane: what the worker learns. The
 * penal broker gives no segments, and LANE_DEMOTING is for the ordinary one. Returns as
 * equip_exporter() does.
 */
int equip_broker(struct recording *rec, enum broker_lane lane);

/* Equips all children, and waits until the worker runs. Explains a failure. */
enum exit_status equip_children(struct recording *rec);

#endif

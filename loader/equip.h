/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The equipment of children: a child that was spawned is checked first, and is then given the
 * descriptors and the channels to its peers. The start of a recording and a later replacement of a
 * child share these functions.
 */
#ifndef KEYHOLE_LOADER_EQUIP_H
#define KEYHOLE_LOADER_EQUIP_H

#include <stdint.h>

#include "ipc/exit_status.h"

struct child;
struct recording;

/*
 * Waits until a spawned child is ready, and checks its role, its build and its layers. Explains a
 * failure.
 */
enum exit_status equip_expect_ready(struct recording *rec, struct child *child);
enum exit_status equip_expect_all(struct recording *rec);

/* Each gives one ready child what the child needs. Returns 0 or a negative errno. */
int equip_exporter(struct recording *rec);
/* segments: table segments that the worker has; 0: as many as the segment map holds. */
int equip_broker(struct recording *rec, uint32_t segments);

/* Equips all children, and waits until the worker runs. Explains a failure. */
enum exit_status equip_children(struct recording *rec);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the exporter what the worker counts, for the numbers that an agent shows of itself. */
#ifndef KEYHOLE_WORKER_WORK_H
#define KEYHOLE_WORKER_WORK_H

#include "ipc/messages.h"

struct delivery;
struct lanes;
struct session;

void work_count(const struct session *session, const struct lanes *lanes,
		const struct delivery *delivery, struct message_work *ret_work);

#endif

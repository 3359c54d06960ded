/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/status.h"

#include <string.h>

#include "loader/recording.h"

static struct message_status count(const struct recording *rec)
{
	const struct monitor *monitor = &rec->monitor;
	const struct child *children = monitor->children;

	return (struct message_status){
		.worker_restarts = children[ROLE_WORKER].restarts,
		.exporter_restarts = children[ROLE_EXPORTER].restarts,
		.broker_restarts = children[ROLE_BROKER].restarts + children[CHILD_PENAL].restarts,
		.broker_hangs = monitor->hangs,
		.map_bytes = rec->programs.map_bytes + (uint64_t)monitor->segments * SEGMENT_BYTES,
		.segments = monitor->segments,
		.brokered = 1,
	};
}

static int send(struct recording *rec, const struct message_status *status)
{
	struct channel *exporter = &rec->monitor.children[ROLE_EXPORTER].channel;

	rec->told = *status;
	return channel_send(exporter, MESSAGE_STATUS, status, sizeof(*status), -1);
}

int status_send(struct recording *rec)
{
	const struct message_status status = count(rec);

	return send(rec, &status);
}

void status_update(struct recording *rec)
{
	const struct message_status status = count(rec);

	if (!(rec->options->given.flags & OPTIONS_METRICS) ||
	    memcmp(&status, &rec->told, sizeof(status)) == 0)
		return;
	send(rec, &status);
}

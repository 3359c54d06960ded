/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of -v at the end of a recording. */
#ifndef KEYHOLE_WORKER_TOTALS_H
#define KEYHOLE_WORKER_TOTALS_H

struct lanes;
struct delivery;
struct session;

/* delivery NULL: the recording is no stream. */
void totals_log(const struct session *session, const struct lanes *lanes,
		const struct delivery *delivery);

#endif

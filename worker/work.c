/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/work.h"

#include <string.h>

#include "worker/delivery.h"
#include "worker/session.h"
#include "worker/target/lanes.h"

static void count_requests(const struct lanes *lanes, struct message_work *work)
{
	static const enum target_kind kinds[WORK_REQUESTS] = {
#define Q(name, request) [WORK_##name] = (request),
#include "ipc/requests.def"
#undef Q
	};

	for (unsigned int i = 0; i < WORK_REQUESTS; i++)
		work->requests[i] = lanes_asked(lanes, kinds[i]);
	for (unsigned int i = 0; i < REFUSALS; i++)
		work->refusals[i] = lanes_refusals(lanes, (enum work_refusal)i);
}

static void count_samples(const struct session *session, struct message_work *work)
{
	struct message_progress progress;
	struct message_summary summary;

	session_progress(session, &progress);
	session_summary(session, &summary);
	work->samples_read = progress.samples;
	work->guesses_proven = summary.reason[REASON_end_named];
	work->records_malformed = summary.discarded;
	work->records_unkept = summary.unkept;
	memcpy(work->limit, summary.limit, sizeof(work->limit));
}

static void count_objects(const struct session *session, struct message_work *work)
{
	struct session_totals totals;

	session_totals(session, &totals);
	work->relists = totals.relists;
	work->grants_given = totals.grants_given;
	work->grants_refused = totals.grants_refused;
	work->processes = totals.processes;
	work->objects = totals.objects;
	work->objects_failed = totals.objects_failed;
	work->table_bytes = totals.table_bytes;
}

void work_count(const struct session *session, const struct lanes *lanes,
		const struct delivery *delivery, struct message_work *ret_work)
{
	*ret_work = (struct message_work){
		.windows_made = delivery->sent,
		.windows_joined = delivery->joined,
	};
	count_samples(session, ret_work);
	count_objects(session, ret_work);
	count_requests(lanes, ret_work);
	ret_work->limit[LIMIT_requests] = lanes_refused(lanes);
}

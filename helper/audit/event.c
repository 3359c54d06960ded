/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/audit/event.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "generated/version.h"
#include "helper/audit/record.h"

enum {
#define L(name, help) LAYER_##name,
#include "policy/layers.def"
#undef L
	LAYERS
};

static char user[EVENT_USER_BYTES];
static char policy[EVENT_HASH_BYTES] = "none";

void event_user(const char *name)
{
	snprintf(user, sizeof(user), "%s", name);
}

void event_policy(const char *hash)
{
	if (*hash)
		snprintf(policy, sizeof(policy), "%s", hash);
}

/* value: the uid of who runs keyhole, the loader's own. */
static int on_start(const struct message_audit_event *event, struct record_value *ret_values)
{
	ret_values[0].text = KEYHOLE_VERSION;
	ret_values[1].number = event->value[0];
	ret_values[2].text = user;
	ret_values[3].text = "brokered";
	ret_values[4].text = policy;
	return 0;
}

/* value: a pid, layers. */
static int on_layers(const struct message_audit_event *event, struct record_value *ret_values)
{
	ret_values[1].number = event->value[0];
	ret_values[2].number = event->value[1];
	if (event->value[0] > INT_MAX || event->value[1] >> LAYERS)
		return -EPROTO;
	return 0;
}

/* value: Hz. */
static int on_sampling(const struct message_audit_event *event, struct record_value *ret_values)
{
	ret_values[0].number = event->value[0];
	return 0;
}

/* value: a row of ipc/events.def, a period. */
static int on_sampled(const struct message_audit_event *event, struct record_value *ret_values)
{
	static const char *const names[] = {
		"default",
#define E(name, type, what, counted, period, least) name,
#include "ipc/events.def"
#undef E
	};

	if (event->value[0] >= sizeof(names) / sizeof(names[0]))
		return -EPROTO;
	ret_values[0].text = names[event->value[0]];
	ret_values[1].number = event->value[1];
	return 0;
}

/* value: an errno. */
static int on_violation(const struct message_audit_event *event, struct record_value *ret_values)
{
	const uint64_t error = event->value[0];

	if (error > MESSAGE_ERRNO_MAX)
		return -EPROTO;
	ret_values[1].text = strerror((int)error);
	if (error == EPROTO)
		ret_values[1].text = "violation of the protocol";
	return 0;
}

/* value: a status as from waitpid(). */
static int on_exited(const struct message_audit_event *event, struct record_value *ret_values)
{
	const int status = (int)event->value[0];

	if (event->value[0] > UINT16_MAX)
		return -EPROTO;
	if (WIFSIGNALED(status)) {
		ret_values[1].text = "signal";
		ret_values[2].number = (unsigned int)WTERMSIG(status);
	} else {
		ret_values[1].text = "status";
		ret_values[2].number = (unsigned int)WEXITSTATUS(status);
	}
	return 0;
}

/* value: an enum audit_kill. */
static int on_kill(const struct message_audit_event *event, struct record_value *ret_values)
{
	static const char *const reasons[] = {
		[KILL_HANGS] = "no valid answer in time",
		[KILL_DRAFT] = "profile not finished",
	};

	if (event->value[0] >= sizeof(reasons) / sizeof(reasons[0]))
		return -EPROTO;
	ret_values[1].text = reasons[event->value[0]];
	return 0;
}

static int on_restart(const struct message_audit_event *event, struct record_value *ret_values)
{
	(void)event;
	(void)ret_values;
	return 0;
}

/* Each function fills in the values that follow the process; some events have no process. */
static int (*const events[])(const struct message_audit_event *, struct record_value *) = {
	[AUDIT_start] = on_start,	  [AUDIT_confined] = on_layers,
	[AUDIT_refused] = on_layers,	  [AUDIT_sampling] = on_sampling,
	[AUDIT_violation] = on_violation, [AUDIT_exited] = on_exited,
	[AUDIT_kill] = on_kill,		  [AUDIT_restart] = on_restart,
	[AUDIT_sampled] = on_sampled,
};

int event_record(const struct message_audit_event *event)
{
	struct record_value values[RECORD_FIELDS_MAX] = {0};

	if (event->event >= sizeof(events) / sizeof(*events) || !events[event->event] ||
	    event->party >= PARTY_CHILD)
		return -EPROTO;
	values[0].text = message_party_name((enum message_party)event->party);
	if (events[event->event](event, values))
		return -EPROTO;
	record_write((enum audit_event)event->event, values);
	return 0;
}

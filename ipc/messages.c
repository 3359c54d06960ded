/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/messages.h"

#include <stddef.h>

/* Every payload says here which of its fields must be zero. */
#define ZERO(type, field)	  offsetof(struct type, field), sizeof(((struct type *)0)->field)
#define ZERO_NOTHING		  0, 0
#define ZERO_message_none	  ZERO(message_none, zero)
#define ZERO_message_ready	  ZERO(message_ready, reserved)
#define ZERO_message_config	  ZERO(message_config, reserved)
#define ZERO_message_descriptor	  ZERO_NOTHING
#define ZERO_message_progress	  ZERO_NOTHING
#define ZERO_message_log	  ZERO_NOTHING
#define ZERO_message_stop	  ZERO(message_stop, reserved)
#define ZERO_message_summary	  ZERO_NOTHING
#define ZERO_message_maps	  ZERO(message_maps, reserved)
#define ZERO_message_reply	  ZERO(message_reply, reserved)
#define ZERO_message_object	  ZERO_NOTHING
#define ZERO_message_object_reply ZERO(message_object_reply, reserved)
#define ZERO_message_segment	  ZERO(message_segment, reserved)
#define ZERO_message_profile	  ZERO_NOTHING
#define ZERO_message_written	  ZERO(message_written, reserved)
#define ZERO_message_spawned	  ZERO(message_spawned, reserved)
#define ZERO_message_exited	  ZERO_NOTHING

/* Where a reply's error is found without knowing its type. */
#define ERROR_AT_0(type)	 0
#define ERROR_AT_1(type)	 0
#define ERROR_AT_FDS_REPLY(type) offsetof(struct type, error)
#define ERROR_AT_FDS_MAYBE(type) offsetof(struct type, error)

enum {
	MANY,
	ONCE
};

#define M(name, from, to, first, last, payload, fds, times) \
	_Static_assert(ERROR_AT_##fds(payload) == 0, #name " begins with its error");
#include "ipc/messages.def"
#undef M

static const struct message_rule rules[MESSAGE_COUNT] = {
#define M(name, from, to, first, last, payload, fds, times)                      \
	[MESSAGE_##name] = {#name,	   PARTY_##from, PARTY_##to,             \
			    PHASE_##first, PHASE_##last, sizeof(struct payload), \
			    fds,	   times,	 ZERO_##payload},
#include "ipc/messages.def"
#undef M
};

const struct message_rule *message_rule(unsigned int type)
{
	return type > MESSAGE_NONE && type < MESSAGE_COUNT ? &rules[type] : NULL;
}

const char *message_party_name(enum message_party party)
{
	static const char *const names[] = {
		[PARTY_LOADER] = "keyhole",
		[PARTY_WORKER] = "keyhole-worker",
		[PARTY_EXPORTER] = "keyhole-exporter",
		[PARTY_BROKER] = "keyhole-broker",
		[PARTY_SPAWNER] = "keyhole-spawner",
		[PARTY_COMMITTER] = "keyhole-committer",
		[PARTY_CHILD] = "keyhole-child",
	};

	return (unsigned int)party < sizeof(names) / sizeof(*names) ? names[party] : "keyhole-?";
}

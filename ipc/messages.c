/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/messages.h"

#include <stdbool.h>
#include <stddef.h>

/* The place of a reply's error. A reply begins with its error, whatever its type is. */
#define ERROR_AT_0(type)	 0
#define ERROR_AT_1(type)	 0
#define ERROR_AT_FDS_REPLY(type) offsetof(struct type, error)
#define ERROR_AT_FDS_MAYBE(type) offsetof(struct type, error)

enum {
	MANY,
	ONCE
};

#define M(name, from, to, first, last, payload, fds, times, reply) \
	_Static_assert(ERROR_AT_##fds(payload) == 0, #name " begins with its error");
#include "ipc/messages.def"
#undef M

/* Is 1 for a payload that begins with an error. message_audit begins with the answer's error. */
#define BEGINS_WITH_ERROR(payload)                                              \
	_Generic((struct payload *)NULL, struct message_reply * : 1,            \
		 struct message_object_reply * : 1, struct message_audit * : 1, \
		 struct message_written * : 1, struct message_spawned * : 1,    \
		 struct message_stepped * : 1, struct message_ranges * : 1,     \
		 struct message_policy_keys * : 1, struct message_spooled * : 1, default : 0)

#define M(name, from, to, first, last, payload, fds, times, reply) \
	_Static_assert((fds) < FDS_REPLY || BEGINS_WITH_ERROR(payload), #name " has an error");
#include "ipc/messages.def"
#undef M

static const struct message_rule rules[MESSAGE_COUNT] = {
#define M(name, from, to, first, last, payload, fds, times, reply) \
	[MESSAGE_##name] = {#name,                                 \
			    PARTY_##from,                          \
			    PARTY_##to,                            \
			    PHASE_##first,                         \
			    PHASE_##last,                          \
			    sizeof(struct payload),                \
			    fds,                                   \
			    times,                                 \
			    BEGINS_WITH_ERROR(payload),            \
			    MESSAGE_##reply},
#include "ipc/messages.def"
#undef M
};

const struct message_rule *message_rule(unsigned int type)
{
	return type > MESSAGE_NONE && type < MESSAGE_COUNT ? &rules[type] : NULL;
}

bool message_is_reply(unsigned int type)
{
	for (unsigned int request = MESSAGE_NONE + 1; request < MESSAGE_COUNT; request++)
		if (rules[request].reply == type)
			return type != MESSAGE_NONE;
	return false;
}

const char *message_party_name(enum message_party party)
{
	static const char *const names[] = {
		[PARTY_LOADER] = "keyhole",
		[PARTY_WORKER] = "keyhole-worker",
		[PARTY_EXPORTER] = "keyhole-exporter",
		[PARTY_BROKER] = "keyhole-broker",
		[PARTY_SPAWNER] = "keyhole-spawner",
		[PARTY_COMMITTER] = "keyhole-output",
		[PARTY_KERNEL_SYMBOLS] = "keyhole-kernel-symbols",
		[PARTY_OPTIONS] = "keyhole-options",
		[PARTY_AUDITOR] = "keyhole-audit",
		[PARTY_RULES] = "keyhole-rules",
		[PARTY_CONNECTOR] = "keyhole-connector",
		[PARTY_DEBUG] = "keyhole-debug",
		[PARTY_VIEWER] = "keyhole-symbolize",
	};

	return (unsigned int)party < sizeof(names) / sizeof(*names) ? names[party] : "keyhole-?";
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the policy makes of names that targets chose, before any of them is in the profile: kept,
 * dropped, or replaced by a keyed hash. The key is random and never leaves this process: equal
 * names are equal in one recording, and nobody can try names against it, or against another one.
 */
#ifndef KEYHOLE_BASE_REDACT_H
#define KEYHOLE_BASE_REDACT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

enum redact_kind { /* enum names_kind of ipc/messages.h */
	REDACT_COMM,
	REDACT_PATH,
	REDACT_THREAD,
	REDACT_FUNCTION,
	REDACT_KINDS
};

enum redact_mode { /* enum names_mode */
	REDACT_KEEP,
	REDACT_DROP,
	REDACT_HASH
};

struct redact {
	enum redact_mode mode[REDACT_KINDS];
	struct hash_key key;
};

#define REDACT_BYTES   24	   /* of a hash as text, with its NUL */
#define REDACT_DROPPED "[dropped]" /* what stands for a name */

/*
 * modes: one for each kind; a number that is no mode drops. Threads are no milder than comm:
 * the name of a main thread is that of its process. 0, or a negative errno: there is no random key.
 */
int redact_init(struct redact *ret_redact, const uint8_t modes[static REDACT_KINDS]);

/* The name, or what stands for it, in text; "" stays: it is none. Names that the kernel gives
 * ("[kernel]", "[vdso]", "[heap]") are not a target's: paths in brackets are kept. */
const char *redact_name(const struct redact *redact, enum redact_kind kind, const char *name,
			char text[REDACT_BYTES]);

/* Likewise for a path that is written in a target's file: no such name is the kernel's. */
const char *redact_source(const struct redact *redact, const char *name, char text[REDACT_BYTES]);

static inline bool redact_keeps(const struct redact *redact, enum redact_kind kind)
{
	return redact->mode[kind] == REDACT_KEEP;
}

#endif

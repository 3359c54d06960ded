/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps, drops or hashes the names that targets chose, as the policy file says, before the profile
 * holds any of them. The key of the hash is random and never leaves this process. Equal names have
 * equal hashes within one recording. Nobody can test guessed names against a recording's hashes, or
 * compare the hashes of two recordings.
 */
#ifndef KEYHOLE_BASE_REDACT_H
#define KEYHOLE_BASE_REDACT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

enum redact_kind { /* in the order of enum names_kind of helper/rules/parser.h */
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

#define REDACT_BYTES   24	   /* a hash as text, with its NUL */
#define REDACT_DROPPED "[dropped]" /* stands for a dropped name */

/*
 * Sets the modes: one for each kind, where an unknown mode drops. Thread names are treated no
 * milder than process names, because a main thread's name is its process's. Returns 0, or a
 * negative errno when the kernel has no random key.
 */
int redact_init(struct redact *ret_redact, const uint8_t modes[static REDACT_KINDS]);

/*
 * Returns the name, or its stand-in, which may lie in text. The empty name stays. Paths in brackets
 * stay as well, because the kernel chose these names ("[kernel]", "[vdso]", "[heap]").
 */
const char *redact_name(const struct redact *redact, enum redact_kind kind, const char *name,
			char text[REDACT_BYTES]);

/* Does the same for a path out of a target's file, where the target chose every name. */
const char *redact_source(const struct redact *redact, const char *name, char text[REDACT_BYTES]);

static inline bool redact_keeps(const struct redact *redact, enum redact_kind kind)
{
	return redact->mode[kind] == REDACT_KEEP;
}

#endif

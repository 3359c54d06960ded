/* SPDX-License-Identifier: Apache-2.0 */
#include "base/redact.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int redact_init(struct redact *ret_redact, const uint8_t modes[static REDACT_KINDS])
{
	enum redact_mode *mode = ret_redact->mode;

	for (int kind = 0; kind < REDACT_KINDS; kind++) {
		mode[kind] = REDACT_DROP;
		if (modes[kind] <= REDACT_HASH)
			mode[kind] = (enum redact_mode)modes[kind];
	}
	if (mode[REDACT_COMM] == REDACT_DROP || mode[REDACT_THREAD] == REDACT_KEEP)
		mode[REDACT_THREAD] = mode[REDACT_COMM];
	return hash_key_random(&ret_redact->key);
}

/* A target chooses one kind of name in brackets, "[anon:…]", by prctl(PR_SET_VMA_ANON_NAME). */
static bool is_kernels(enum redact_kind kind, const char *name)
{
	return kind == REDACT_PATH && name[0] == '[' && strncmp(name, "[anon", 5) != 0;
}

static const char *apply_mode(const struct redact *redact, enum redact_mode mode, const char *name,
			      char text[REDACT_BYTES])
{
	if (mode == REDACT_KEEP || !name[0])
		return name;
	if (mode == REDACT_DROP)
		return REDACT_DROPPED;
	snprintf(text, REDACT_BYTES, "[%016" PRIx64 "]",
		 hash_bytes(&redact->key, name, strlen(name)));
	return text;
}

const char *redact_name(const struct redact *redact, enum redact_kind kind, const char *name,
			char text[REDACT_BYTES])
{
	if (is_kernels(kind, name))
		return name;
	return apply_mode(redact, redact->mode[kind], name, text);
}

const char *redact_source(const struct redact *redact, const char *name, char text[REDACT_BYTES])
{
	return apply_mode(redact, redact->mode[REDACT_PATH], name, text);
}

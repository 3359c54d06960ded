/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts the variables that the policy names out of the environment of a process, as
 * /proc/PID/environ has it: "NAME=value" and a NUL for each. The process may have overwritten it
 * with any bytes.
 */
#ifndef KEYHOLE_LOADER_BROKER_ENVIRONMENT_H
#define KEYHOLE_LOADER_BROKER_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/messages.h"

#define ENVIRONMENT_VALUE_MAX 4096u /* bytes; a variable with a longer value is left out */

struct environment_names {
	char names[GRANT_VARIABLES_MAX][GRANT_NAME_BYTES]; /* NUL terminated */
	uint32_t count;
};

/* Takes a name of the policy. Returns 0, or -EPROTO: no name, or too many. */
int environment_add_name(struct environment_names *names, const char name[GRANT_NAME_BYTES]);

/* A cut through a text that comes in pieces. Begins as zeros, with names and room set. */
struct environment_cut {
	const struct environment_names *names; /* borrowed, as the room */
	char *room;
	size_t size, used;
	char key[GRANT_NAME_BYTES]; /* the beginning of the entry, before its '=' */
	size_t length;		    /* of key */
	size_t start;		    /* of the value that is copied, in `used` */
	enum {
		ENVIRONMENT_KEY,
		ENVIRONMENT_COPY,
		ENVIRONMENT_SKIP
	} state;
};

/* Takes a piece. An entry counts once its NUL has come. */
void environment_cut(struct environment_cut *cut, const char *text, size_t size);
/* Returns the bytes of the whole entries that were cut so far. */
size_t environment_size(const struct environment_cut *cut);

#endif

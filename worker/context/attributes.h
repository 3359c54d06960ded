/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes that a process gives of itself, as text for the profile: "key=value" and a line feed
 * for each. A key has no '='. Both are valid UTF-8 without control characters, whatever the process
 * says. The first of equal keys stays.
 */
#ifndef KEYHOLE_WORKER_CONTEXT_ATTRIBUTES_H
#define KEYHOLE_WORKER_CONTEXT_ATTRIBUTES_H

#include <stddef.h>

#define ATTRIBUTES_BYTES_MAX 8192u /* with a NUL */
#define ATTRIBUTES_KEY_MAX   128u  /* bytes; an attribute with a longer key is left out */
#define ATTRIBUTES_VALUE_MAX 1024u /* bytes; a longer value is cut, and says so */

/* Begins as zeros. */
struct attributes {
	char text[ATTRIBUTES_BYTES_MAX]; /* NUL terminated */
	size_t used;
	size_t left_out; /* attributes without room, or without a key that may be */
};

void attributes_add(struct attributes *attributes, const char *key, size_t key_size,
		    const char *value, size_t value_size);
/* The same for a key of ours. */
void attributes_add_known(struct attributes *attributes, const char *key, const char *value,
			  size_t value_size);

#endif

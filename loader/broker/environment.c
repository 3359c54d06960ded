/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/environment.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

int environment_add_name(struct environment_names *names, const char name[GRANT_NAME_BYTES])
{
	if (!name[0] || name[GRANT_NAME_BYTES - 1] || names->count >= GRANT_VARIABLES_MAX)
		return -EPROTO;
	memcpy(names->names[names->count++], name, GRANT_NAME_BYTES);
	return 0;
}

static bool is_named(const struct environment_cut *cut)
{
	for (uint32_t i = 0; i < cut->names->count; i++)
		if (strlen(cut->names->names[i]) == cut->length &&
		    memcmp(cut->names->names[i], cut->key, cut->length) == 0)
			return true;
	return false;
}

static bool append(struct environment_cut *cut, const char *bytes, size_t size)
{
	if (size > cut->size - cut->used)
		return false;
	memcpy(cut->room + cut->used, bytes, size);
	cut->used += size;
	return true;
}

/* Takes back what was copied of the entry. */
static void leave_out(struct environment_cut *cut)
{
	cut->used = cut->start;
	cut->state = ENVIRONMENT_SKIP;
}

static void take_key(struct environment_cut *cut, char byte)
{
	if (byte != '=') {
		if (cut->length == sizeof(cut->key))
			cut->state = ENVIRONMENT_SKIP;
		else
			cut->key[cut->length++] = byte;
		return;
	}
	cut->state = ENVIRONMENT_SKIP;
	if (!is_named(cut))
		return;
	cut->state = ENVIRONMENT_COPY;
	if (!append(cut, cut->key, cut->length) || !append(cut, "=", 1))
		leave_out(cut);
}

static void take_value(struct environment_cut *cut, char byte)
{
	const size_t most = cut->length + 1 + ENVIRONMENT_VALUE_MAX;

	if (cut->used - cut->start >= most || !append(cut, &byte, 1))
		leave_out(cut);
}

static void end_entry(struct environment_cut *cut)
{
	if (cut->state == ENVIRONMENT_COPY && !append(cut, "", 1))
		leave_out(cut);
	cut->start = cut->used;
	cut->length = 0;
	cut->state = ENVIRONMENT_KEY;
}

void environment_cut(struct environment_cut *cut, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\0')
			end_entry(cut);
		else if (cut->state == ENVIRONMENT_KEY)
			take_key(cut, text[i]);
		else if (cut->state == ENVIRONMENT_COPY)
			take_value(cut, text[i]);
	}
}

size_t environment_size(const struct environment_cut *cut)
{
	return cut->start;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "view/check/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the text behind `name` at the start of a line, or NULL. */
static const char *line_of(const char *text, const char *name)
{
	const size_t length = strlen(name);

	while (strncmp(text, name, length) != 0) {
		text = strchr(text, '\n');
		if (!text)
			return NULL;
		text++;
	}
	return text + length;
}

void text_field(const char *status, const char *name, char *ret_value, size_t size)
{
	char start[32];
	const char *at;

	snprintf(start, sizeof(start), "%s:\t", name);
	at = line_of(status, start);
	if (!at)
		at = "";
	snprintf(ret_value, size, "%.*s", (int)strcspn(at, "\n"), at);
}

bool text_limit(const char *limits, const char *name, unsigned long long *ret_hard)
{
	char start[32];
	const char *at;

	snprintf(start, sizeof(start), "%s ", name);
	at = line_of(limits, start);
	if (!at)
		return false;
	at += strspn(at, " ");
	at += strcspn(at, " \n"); /* the soft limit */
	at += strspn(at, " ");
	*ret_hard = strtoull(at, NULL, 10);
	return *at >= '0' && *at <= '9';
}

bool text_program_tag(const char *fdinfo, char ret_tag[TEXT_TAG_BYTES])
{
	if (line_of(fdinfo, "link_type:"))
		return false;
	text_field(fdinfo, "prog_tag", ret_tag, TEXT_TAG_BYTES);
	return *ret_tag;
}

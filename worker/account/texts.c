/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/account/texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/redact.h"
#include "profile/format/names.h"

void texts_process(const struct texts *texts, const char *raw, char *ret_clean, size_t size)
{
	char text[REDACT_BYTES];

	format_clean_name(ret_clean, size, redact_name(texts->redact, REDACT_COMM, raw, text));
}

void texts_cgroup(const struct texts *texts, uint64_t id, char *ret_clean, size_t size)
{
	char text[REDACT_BYTES];
	const char *path = NULL;

	ret_clean[0] = '\0';
	if (id == 0)
		return;
	path = texts->path(texts->path_context, id);
	if (path)
		format_clean_name(ret_clean, size,
				  redact_name(texts->redact, REDACT_PATH, path, text));
	else
		snprintf(ret_clean, size, "id:%" PRIu64, id);
}

bool texts_container(const struct texts *texts, uint64_t id, char ret_id[CONTAINER_ID_BYTES])
{
	const char *path = NULL;

	memset(ret_id, 0, CONTAINER_ID_BYTES);
	if (id != 0 && redact_keeps(texts->redact, REDACT_PATH))
		path = texts->path(texts->path_context, id);
	return path && container_id(path, ret_id);
}

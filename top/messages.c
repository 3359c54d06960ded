/* SPDX-License-Identifier: Apache-2.0 */
#include "top/messages.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "worker/format/format.h"

static const char clear_line[] = "\033[K";

static void line_ended(struct messages *messages)
{
	char *line = messages->begun;
	uint64_t lost;
	int end = 0;

	line[messages->length] = '\0';
	messages->length = 0;
	if (!strncmp(line, clear_line, strlen(clear_line)))
		line += strlen(clear_line);
	if (*line == '\0')
		return;
	/* summary_print_progress() */
	if (sscanf(line, "%*f s: %*u samples, %*u %% complete, %" SCNu64 " lost%n", &lost, &end) ==
		    1 &&
	    end > 0) {
		messages->lost = lost;
		return;
	}
	format_clean_name(messages->lines[messages->next], MESSAGES_BYTES, line);
	messages->next = (messages->next + 1) % MESSAGES_KEPT;
	messages->count += messages->count < MESSAGES_KEPT;
}

void messages_feed(struct messages *messages, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\n' || bytes[i] == '\r')
			line_ended(messages);
		else if (messages->length + 1 < MESSAGES_BYTES && bytes[i])
			messages->begun[messages->length++] = bytes[i];
	}
}

const char *messages_line(const struct messages *messages, size_t index)
{
	if (index >= messages->count)
		return NULL;
	return messages
		->lines[(messages->next + MESSAGES_KEPT - messages->count + index) % MESSAGES_KEPT];
}

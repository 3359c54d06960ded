/* SPDX-License-Identifier: Apache-2.0 */
#include "view/top/messages.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "profile/format/names.h"

/* Recognises "5 s: 495 samples, 0 lost, 98 % complete", a line of summary_progress(). */
static bool is_progress(const char *line, uint64_t *ret_lost)
{
	int end = 0;

	return sscanf(line, "%*u s: %*u samples, %" SCNu64 " lost%n", ret_lost, &end) == 1 &&
	       end > 0;
}

/* Names top where record complains of an option that top handed on. The text gets no longer. */
static void name_top(char *line)
{
	static const char record[] = "keyhole: record: ", top[] = "keyhole: top: ";
	static const struct {
		const char *record, *top;
	} tails[] = {
		{"keyhole record --help", "keyhole top --help"},
		{"a command goes after --", "see: keyhole top --help"},
	};
	const size_t length = strlen(line);

	if (strncmp(line, record, sizeof(record) - 1) != 0)
		return;
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		const size_t tail = strlen(tails[i].record);

		if (length > tail && !strcmp(line + length - tail, tails[i].record))
			memcpy(line + length - tail, tails[i].top, strlen(tails[i].top) + 1);
	}
	memcpy(line, top, sizeof(top) - 1);
	line += sizeof(top) - 1;
	memmove(line, line + sizeof(record) - sizeof(top),
		strlen(line + sizeof(record) - sizeof(top)) + 1);
}

static void line_ended(struct messages *messages)
{
	uint64_t lost;

	messages->begun[messages->length] = '\0';
	messages->length = 0;
	if (is_progress(messages->begun, &lost)) {
		messages->lost = lost;
		return;
	}
	name_top(messages->begun);
	format_clean_name(messages->lines[messages->next], MESSAGES_BYTES, messages->begun);
	messages->next = (messages->next + 1) % MESSAGES_KEPT;
	if (messages->count < MESSAGES_KEPT)
		messages->count++;
}

void messages_feed(struct messages *messages, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\n')
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ipc/channel.h"

#define LINE_BYTES 1024

static struct {
	const char *process;
	enum log_level limit;
	struct channel *channel;
} sink = {.process = "keyhole", .limit = LOG_LEVEL_INFO};

void log_init(const char *process, enum log_level limit)
{
	sink.process = process;
	sink.limit = limit;
}

void log_to_channel(struct channel *channel)
{
	sink.channel = channel;
}

static bool printable(unsigned char byte)
{
	return byte >= ' ' && byte <= '~';
}

static void to_channel(enum log_level level, const char *text)
{
	struct message_log log = {.level = level};
	size_t length = strnlen(text, sizeof(log.text));

	if (length == 0)
		return;
	log.length = (uint32_t)length;
	for (size_t i = 0; i < length; i++)
		log.text[i] = printable((unsigned char)text[i]) ? text[i] : '?';
	channel_send(sink.channel, MESSAGE_LOG, &log, sizeof(log), -1);
}

void log_line(enum log_level level, const char *format, ...)
{
	char text[LINE_BYTES];
	va_list arguments;

	if (level > sink.limit)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (sink.channel) {
		to_channel(level, text);
		return;
	}
	/* The user's own file names may hold UTF-8, but nothing that moves a cursor. */
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	dprintf(STDERR_FILENO, "%s: %s\n", sink.process, text);
}

int log_from_message(const char *process, const struct message_log *message)
{
	char text[LOG_TEXT_BYTES + 1] = "";

	if (message->level > LOG_LEVEL_DEBUG || message->length == 0 ||
	    message->length > sizeof(message->text))
		return -EPROTO;
	for (unsigned int i = 0; i < sizeof(message->text); i++)
		if (i < message->length ? !printable((unsigned char)message->text[i])
					: message->text[i] != 0)
			return -EPROTO;
	memcpy(text, message->text, message->length);
	if (message->level <= sink.limit)
		dprintf(STDERR_FILENO, "%s: %s\n", process, text);
	return 0;
}

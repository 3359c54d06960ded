/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ipc/messages.h"

#define LINE_BYTES 1024

static struct {
	const char *process;
	enum log_level limit;
	void (*sink)(void *owner, const struct message_log *line); /* NULL: standard error */
	void *owner;
} own = {.process = "keyhole", .limit = LOG_LEVEL_INFO};

void log_init(const char *process, enum log_level limit)
{
	own.process = process;
	own.limit = limit;
}

void log_to(void (*sink)(void *owner, const struct message_log *line), void *owner)
{
	own.sink = sink;
	own.owner = owner;
}

static bool printable(unsigned char byte)
{
	return byte >= ' ' && byte <= '~';
}

static void to_sink(enum log_level level, const char *text)
{
	struct message_log log = {.level = level};
	size_t length = strnlen(text, sizeof(log.text));

	if (length == 0)
		return;
	log.length = (uint32_t)length;
	for (size_t i = 0; i < length; i++)
		log.text[i] = printable((unsigned char)text[i]) ? text[i] : '?';
	own.sink(own.owner, &log);
}

void log_line(enum log_level level, const char *format, ...)
{
	char text[LINE_BYTES];
	va_list arguments;

	if (level > own.limit)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (own.sink) {
		to_sink(level, text);
		return;
	}
	/* The user's own file names may hold UTF-8. No byte may move a cursor. */
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	dprintf(STDERR_FILENO, "%s: %s\n", own.process, text);
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
	if (message->level <= own.limit)
		dprintf(STDERR_FILENO, "%s: %s\n", process, text);
	return 0;
}

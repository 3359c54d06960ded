/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ipc/log_limit.h"
#include "ipc/messages.h"
#include "ipc/time.h"

#define LINE_BYTES 1024
#define MORE_BYTES 96

static struct {
	const char *process;
	enum log_level limit;
	enum log_form form;
	void (*sink)(void *owner, const struct message_log *line); /* NULL: standard error */
	void *owner;
	struct log_limit repeats;
} own = {.process = "keyhole", .limit = LOG_LEVEL_INFO};

/* ---- forms ---- */

static const char *const form_names[] = {
	[LOG_TEXT] = "text", [LOG_JOURNAL] = "journal", [LOG_JSON] = "json"};

static enum log_form form_of(const char *name)
{
	for (int form = LOG_TEXT; name && form <= LOG_JSON; form++)
		if (strcmp(form_names[form], name) == 0)
			return (enum log_form)form;
	return LOG_TEXT;
}

void log_init(const char *process, enum log_level limit)
{
	own.process = process;
	own.limit = limit;
	own.form = form_of(getenv(LOG_VARIABLE));
}

void log_choose(enum log_form form)
{
	own.form = form;
	setenv(LOG_VARIABLE, form_names[form], 1);
}

enum log_form log_chosen(void)
{
	return own.form;
}

void log_find_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	struct stat status;
	char text[64];

	if (!stream || fstat(STDERR_FILENO, &status) < 0)
		return;
	snprintf(text, sizeof(text), "%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
	if (strcmp(stream, text) == 0)
		log_choose(LOG_JOURNAL);
}

/* ---- lines ---- */

#define WHOLE_BYTES (2 * LINE_BYTES + 4 * MORE_BYTES)

/*
 * Writes a line at once. dprintf() asks a device whether it is a terminal, by a call that the
 * filters of confined processes kill for.
 */
__attribute__((format(printf, 1, 2))) static void put_line(const char *format, ...)
{
	char line[WHOLE_BYTES];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	if ((size_t)length >= sizeof(line))
		length = sizeof(line) - 1;
	if (write(STDERR_FILENO, line, (size_t)length) < 0)
		return;
}

static void write_text(const char *priority, const char *process, const char *text,
		       const struct log_left_out *left_out)
{
	char more[MORE_BYTES] = "", others[MORE_BYTES] = "";

	if (left_out->equal > 0)
		snprintf(more, sizeof(more), " (%" PRIu64 " more like this)", left_out->equal);
	if (left_out->others > 0)
		snprintf(others, sizeof(others), " (%" PRIu64 " lines left out)", left_out->others);
	put_line("%s%s: %s%s%s\n", priority, process, text, more, others);
}

/* Quotes a text whose control characters are gone. Bytes that may be no UTF-8 become '?'. */
static void quote(const char *text, char ret_quoted[2 * LINE_BYTES])
{
	char *to = ret_quoted;

	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			*to++ = '\\';
		*to++ = (unsigned char)*text < 0x80 ? *text : '?';
	}
	*to = '\0';
}

/* The time is in seconds since 1970, because a confined process cannot read the time zone. */
static void write_json(enum log_level level, const char *process, const char *text,
		       const struct log_left_out *left_out)
{
	static const char *const levels[] = {"error", "warning", "info", "debug"};
	char quoted[2 * LINE_BYTES];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	quote(text, quoted);
	put_line("{\"time\":%" PRId64 ".%03" PRId64 ",\"level\":\"%s\",\"process\":\"%s\","
		 "\"message\":\"%s\",\"left_out\":%" PRIu64 "}\n",
		 (int64_t)now.tv_sec, (int64_t)now.tv_nsec / 1000000, levels[level], process,
		 quoted, left_out->equal + left_out->others);
}

static void write_line(enum log_level level, const char *process, const char *text)
{
	static const char *const priorities[] = {"<3>", "<4>", "<6>", "<7>"};
	struct log_left_out left_out;
	const char *priority = "";

	if (!log_limit_take(&own.repeats, process, text, time_now(), &left_out))
		return;
	if (own.form == LOG_JOURNAL)
		priority = priorities[level];
	if (own.form == LOG_JSON)
		write_json(level, process, text, &left_out);
	else
		write_text(priority, process, text, &left_out);
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
	write_line(level, own.process, text);
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
		write_line((enum log_level)message->level, process, text);
	return 0;
}

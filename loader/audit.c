/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "ipc/log.h"
#include "ipc/tally.h"
#include "ipc/time.h"

#define RECORD_BYTES 4096
#define TEXT_BYTES   3072 /* text ends there: keys and numbers always have room */

struct record {
	char bytes[RECORD_BYTES];
	size_t length;
};

static struct {
	int fd;
	bool json;
	char run[20]; /* tells the streams in one file apart */
	uint64_t sequence, lost;
	int error;	 /* of the last record that was lost */
	bool torn;	 /* the last line in the file has no end */
	uint64_t opened; /* monotonic */
	uint64_t reports, restarts;
} audit = {.fd = -1};

static const struct {
	const char *name, *fields;
} events[] = {
#define A(id, name, fields, names) [id] = {#name, names},
#include "loader/audit.def"
#undef A
};

int audit_open(const char *path)
{
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	guard_fd int fd = open(path, flags | O_CLOEXEC, 0600);
	const char *end = strrchr(path, '.');
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_mode & 077 || status.st_nlink != 1 ||
	    status.st_uid != geteuid())
		return -EPERM;
	audit.fd = take_fd(&fd);
	audit.json = end && strcmp(end, ".json") == 0;
	audit.opened = time_now();
	snprintf(audit.run, sizeof(audit.run), "%08x%08x", arc4random(), arc4random());
	return 0;
}

bool audit_is_open(void)
{
	return audit.fd >= 0;
}

__attribute__((format(printf, 2, 3))) static void put(struct record *record, const char *format,
						      ...)
{
	size_t room = sizeof(record->bytes) - record->length;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(record->bytes + record->length, room, format, arguments);
	va_end(arguments);
	record->length += length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1;
}

/* In both formats \xHH stands for a byte that could be mistaken, and \... for what was cut off. */
static void put_text(struct record *record, const char *text, const char *also)
{
	const char *escape = audit.json ? "\\\\" : "\\";

	for (; *text && record->length < TEXT_BYTES; text++) {
		if (*text < ' ' || *text > '~' || strchr("\"\\", *text) || strchr(also, *text))
			put(record, "%sx%02x", escape, (unsigned char)*text);
		else
			put(record, "%c", *text);
	}
	if (*text)
		put(record, "%s...", escape);
}

static void put_value(struct record *record, const struct audit_value *value)
{
	if (!value->text && !value->words) {
		put(record, "%" PRIu64, value->number);
		return;
	}
	put(record, "\"");
	if (value->text)
		put_text(record, value->text, "");
	for (const char *const *word = value->words; word && *word; word++) {
		put(record, "%s", word == value->words ? "" : " ");
		put_text(record, *word, " ");
	}
	put(record, "\"");
}

static void put_fields(struct record *record, const char *names, const struct audit_value *values)
{
	for (size_t length; *names; names += length + (names[length] == ' '), values++) {
		length = strcspn(names, " ");
		if (record->length)
			put(record, audit.json ? "," : " ");
		put(record, audit.json ? "%s\"%.*s\":" : "%s%.*s=",
		    audit.json && !record->length ? "{" : "", (int)length, names);
		put_value(record, values);
	}
}

static void put_head(struct record *record, enum audit_event event)
{
	struct timespec now;
	struct tm utc;
	char seconds[32], time[48];

	clock_gettime(CLOCK_REALTIME, &now);
	strftime(seconds, sizeof(seconds), "%FT%T", gmtime_r(&now.tv_sec, &utc));
	snprintf(time, sizeof(time), "%s.%09ldZ", seconds, now.tv_nsec);
	put_fields(record, "seq time run id event",
		   (const struct audit_value[]){AUDIT_NUMBER(++audit.sequence), AUDIT_TEXT(time),
						AUDIT_TEXT(audit.run), AUDIT_NUMBER(event),
						AUDIT_TEXT(events[event].name)});
}

void audit_record(enum audit_event event, const struct audit_value *values)
{
	struct record record = {.length = 0};
	ssize_t written;

	if (audit.fd < 0)
		return;
	audit.restarts += event == AUDIT_restart; /* that broker reports anew */
	put_head(&record, event);
	put_fields(&record, events[event].fields, values);
	put(&record, audit.json ? "}\n" : "\n");
	/* After half a line this one must begin on its own. */
	if (audit.torn && write(audit.fd, "\n", 1) == 1)
		audit.torn = false;
	written = audit.torn ? -1 : write(audit.fd, record.bytes, record.length);
	if (written == (ssize_t)record.length)
		return;
	audit.error = written < 0 ? errno : ENOSPC;
	audit.torn |= written > 0;
	audit.lost++;
}

int audit_operations(const struct message_audit *operations)
{
	static const char *const names[] = {"maps", "object", "segment"};
	const int error = operations->error;
	const char *result = error == 0		      ? "done"
			     : error == TALLY_SEVERAL ? "several"
						      : strerrorname_np(-error);
	uint64_t reports = TALLY_AT_ONCE * (1 + audit.restarts) +
			   (time_now() - audit.opened) / (NS_PER_SECOND / TALLY_RATE);

	if (!audit_is_open() || ++audit.reports > reports || !result || operations->count == 0 ||
	    operations->operation >= OPERATION_COUNT || operations->granted > operations->count)
		return -EPROTO;
	audit_write(operations, AUDIT_TEXT(names[operations->operation]),
		    AUDIT_NUMBER(operations->pid), AUDIT_NUMBER(major(operations->device)),
		    AUDIT_NUMBER(minor(operations->device)), AUDIT_NUMBER(operations->inode),
		    AUDIT_TEXT(result), AUDIT_NUMBER(operations->count),
		    AUDIT_NUMBER(operations->granted));
	return 0;
}

void audit_end(int status)
{
	audit_write(end, AUDIT_NUMBER(status), AUDIT_NUMBER(audit.sequence + 1),
		    AUDIT_NUMBER(audit.lost));
	if (audit.lost)
		log_error("audit: %" PRIu64 " of %" PRIu64 " records: not written: %s", audit.lost,
			  audit.sequence, strerror(audit.error));
}

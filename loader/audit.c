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

/* In both formats \xHH stands for a byte that could be mistaken. */
static void put_text(FILE *record, const char *text, const char *also)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || strchr("\"\\", *text) || strchr(also, *text))
			fprintf(record, audit.json ? "\\\\x%02x" : "\\x%02x", (unsigned char)*text);
		else
			fputc(*text, record);
}

static void put_value(FILE *record, const struct audit_value *value)
{
	if (!value->text && !value->words) {
		fprintf(record, "%" PRIu64, value->number);
		return;
	}
	fputc('"', record);
	put_text(record, value->text ? value->text : "", "");
	for (const char *const *word = value->words; word && *word; word++) {
		fputs(word == value->words ? "" : " ", record);
		put_text(record, *word, " ");
	}
	fputc('"', record);
}

/* Each behind `separator`, which is another one before the first field of all. */
static void put_fields(FILE *record, const char *separator, const char *names,
		       const struct audit_value *values)
{
	for (size_t length; *names; names += length + (names[length] == ' '), values++) {
		length = strcspn(names, " ");
		fprintf(record, audit.json ? "%s\"%.*s\":" : "%s%.*s=", separator, (int)length,
			names);
		put_value(record, values);
		separator = audit.json ? "," : " ";
	}
}

static void put_record(FILE *record, enum audit_event event, const struct audit_value *values)
{
	struct timespec now;
	struct tm utc;
	char seconds[32], time[48];

	clock_gettime(CLOCK_REALTIME, &now);
	strftime(seconds, sizeof(seconds), "%FT%T", gmtime_r(&now.tv_sec, &utc));
	snprintf(time, sizeof(time), "%s.%09ldZ", seconds, now.tv_nsec);
	put_fields(record, audit.json ? "{" : "", "seq time run id event",
		   (const struct audit_value[]){AUDIT_NUMBER(audit.sequence), AUDIT_TEXT(time),
						AUDIT_TEXT(audit.run), AUDIT_NUMBER(event),
						AUDIT_TEXT(events[event].name)});
	put_fields(record, audit.json ? "," : " ", events[event].fields, values);
	fputs(audit.json ? "}\n" : "\n", record);
}

void audit_record(enum audit_event event, const struct audit_value *values)
{
	guard_free char *bytes = NULL;
	size_t length = 0;
	FILE *record;
	ssize_t written;

	if (!audit_is_open())
		return;
	audit.sequence++;
	audit.restarts += event == AUDIT_restart; /* that broker reports anew */
	record = open_memstream(&bytes, &length);
	if (record)
		put_record(record, event, values);
	if (!record || fclose(record))
		length = 0;
	/* After half a line this one must begin on its own. */
	if (audit.torn && write(audit.fd, "\n", 1) == 1)
		audit.torn = false;
	written = length && !audit.torn ? write(audit.fd, bytes, length) : -1;
	if (written > 0 && (size_t)written == length)
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

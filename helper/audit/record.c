/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/audit/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "ipc/log.h"

static struct {
	int fd;
	bool json;
	const char *const *arguments;
	char run[20]; /* tells the streams in one file apart */
	uint64_t sequence, lost;
	int error; /* of the last record that was lost */
	bool torn; /* the last line in the file has no end */
} stream = {.fd = -1};

static const struct {
	const char *name, *types, *fields;
} events[] = {
#define A(id, name, types, names) [id] = {#name, types, names},
#include "ipc/audit.def"
#undef A
};
#define EVENTS (sizeof(events) / sizeof(*events))

#define A(id, name, types, names) _Static_assert(sizeof(types) - 1 <= RECORD_FIELDS_MAX, #name);
#include "ipc/audit.def"
#undef A

static const char *const layers[] = {
#define L(name, help) #name,
#include "policy/layers.def"
#undef L
	NULL,
};

void record_start(int fd, bool json, const char *const *arguments)
{
	close_fd(&stream.fd);
	stream.fd = fd;
	stream.json = json;
	stream.arguments = arguments;
	stream.sequence = stream.lost = 0;
	stream.torn = false;
	snprintf(stream.run, sizeof(stream.run), "%08x%08x", arc4random(), arc4random());
}

/* In both formats \xHH stands for a byte that could be mistaken. */
static void put_text(FILE *record, const char *text, const char *also)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || strchr("\"\\", *text) || strchr(also, *text))
			fprintf(record, stream.json ? "\\\\x%02x" : "\\x%02x",
				(unsigned char)*text);
		else
			fputc(*text, record);
}

/* Prints the words whose bit in mask is set, joined by blanks. */
static void put_words(FILE *record, const char *const *words, uint64_t mask)
{
	const char *separator = "";

	for (; *words; words++, mask = mask >> 1 | (mask & 1ull << 63)) {
		if (!(mask & 1))
			continue;
		fputs(separator, record);
		put_text(record, *words, " ");
		separator = " ";
	}
}

static void put_value(FILE *record, char type, const struct record_value *value)
{
	if (type == 'n') {
		fprintf(record, "%" PRIu64, value->number);
		return;
	}
	fputc('"', record);
	if (type == 'a')
		put_words(record, stream.arguments, UINT64_MAX);
	else if (type == 'l')
		put_words(record, layers, value->number);
	else
		put_text(record, value->text, "");
	fputc('"', record);
}

/* Prints the fields, each behind a separator. `separator` is the separator of the first field. */
static void put_fields(FILE *record, const char *separator, const char *types, const char *names,
		       const struct record_value *values)
{
	for (size_t length; *types; names += length + (names[length] == ' '), values++) {
		length = strcspn(names, " ");
		fprintf(record, stream.json ? "%s\"%.*s\":" : "%s%.*s=", separator, (int)length,
			names);
		put_value(record, *types++, values);
		separator = stream.json ? "," : " ";
	}
}

static void put_record(FILE *record, enum audit_event event, const struct record_value *values)
{
	struct timespec now;
	struct tm utc;
	char seconds[32], time[48];

	clock_gettime(CLOCK_REALTIME, &now);
	strftime(seconds, sizeof(seconds), "%FT%T", gmtime_r(&now.tv_sec, &utc));
	snprintf(time, sizeof(time), "%s.%09ldZ", seconds, now.tv_nsec);
	put_fields(record, stream.json ? "{" : "", "nttnt", "seq time run id event",
		   (const struct record_value[]){{.number = stream.sequence},
						 {.text = time},
						 {.text = stream.run},
						 {.number = event},
						 {.text = events[event].name}});
	put_fields(record, stream.json ? "," : " ", events[event].types, events[event].fields,
		   values);
	fputs(stream.json ? "}\n" : "\n", record);
}

void record_write(enum audit_event event, const struct record_value *values)
{
	guard_free char *bytes = NULL;
	size_t length = 0;
	FILE *record = open_memstream(&bytes, &length);
	ssize_t written;

	stream.sequence++;
	if (record)
		put_record(record, event, values);
	if (!record || fclose(record))
		length = 0;
	/* After half a line this one must begin on its own. */
	if (stream.torn && write(stream.fd, "\n", 1) == 1)
		stream.torn = false;
	written = length && !stream.torn ? write(stream.fd, bytes, length) : -1;
	if (written > 0 && (size_t)written == length)
		return;
	stream.error = written < 0 ? errno : ENOSPC;
	stream.torn |= written > 0;
	stream.lost++;
}

void record_operations(const struct operations *operations)
{
	static const char *const names[] = {"maps", "object",  "segment", "grant",
					    "code", "context", "cgroups"};
	const char *result = operations->error == 0 ? "done"
			     : operations->error == TALLY_SEVERAL
				     ? "several"
				     : strerrorname_np(-operations->error);

	_Static_assert(sizeof(names) / sizeof(*names) == OPERATION_COUNT, "a name for each");
	record_write(AUDIT_operations,
		     (const struct record_value[]){{.text = names[operations->operation]},
						   {.number = operations->pid},
						   {.number = major(operations->device)},
						   {.number = minor(operations->device)},
						   {.number = operations->inode},
						   {.text = result},
						   {.number = operations->count},
						   {.number = operations->granted}});
}

void record_end(uint64_t status)
{
	record_write(AUDIT_end, (const struct record_value[]){{.number = status},
							      {.number = stream.sequence + 1},
							      {.number = stream.lost}});
	if (stream.lost)
		log_error("audit: %" PRIu64 " of %" PRIu64 " records: not written: %s", stream.lost,
			  stream.sequence, strerror(stream.error));
}

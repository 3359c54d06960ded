/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit stream: one record a line, of key=value or JSON, appended to a file that was opened
 * while there were rights to. One stream a process. A record that cannot be written leaves a gap in
 * the sequence numbers. No byte but printable ASCII gets into it.
 */
#ifndef KEYHOLE_LOADER_AUDIT_H
#define KEYHOLE_LOADER_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/messages.h"

enum audit_event {
#define A(id, name, fields, names) AUDIT_##name = id,
#include "loader/audit.def"
#undef A
};

enum {
#define A(id, name, fields, names) AUDIT_FIELDS_##name = fields,
#include "loader/audit.def"
#undef A
};

/* One of the three, the others 0. */
struct audit_value {
	const char *text;
	const char *const *words; /* NULL terminated: joined by blanks */
	uint64_t number;
};
#define AUDIT_TEXT(value)       \
	{                       \
		.text = (value) \
	}
#define AUDIT_WORDS(value)       \
	{                        \
		.words = (value) \
	}
#define AUDIT_NUMBER(value)                 \
	{                                   \
		.number = (uint64_t)(value) \
	}

/*
 * JSON where the name ends in .json. A new file has mode 0600; one that exists must be a regular
 * file with one name that nobody but its owner, who is us, may open. 0 or a negative errno.
 */
int audit_open(const char *path);
bool audit_is_open(void);

/* Without an open stream nothing happens. audit_write(kill, AUDIT_TEXT(...), ...) */
#define audit_write(event, ...) \
	audit_record(AUDIT_##event, (const struct audit_value[AUDIT_FIELDS_##event]){__VA_ARGS__})
void audit_record(enum audit_event event, const struct audit_value *values);

/* What the broker counted: -EPROTO when it is not well-formed, too much or not asked for. */
int audit_operations(const struct message_audit *operations);

/* The last record; says on standard error if any could not be written. */
void audit_end(int status);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit stream, which keyhole-audit writes: a process that has no rights and the file, opened
 * while there were rights to. One stream a process. A recording does not go on without it.
 */
#ifndef KEYHOLE_LOADER_AUDIT_H
#define KEYHOLE_LOADER_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/channel.h"

/*
 * JSON where the name ends in .json. A new file has mode 0600; one that exists must be a regular
 * file with one name that nobody but its owner, who is us, may open. 0 or a negative errno.
 */
int audit_open(const char *path, const char *const *arguments);

/*
 * The fields of ipc/audit.def, each behind the other with a newline between them. Without an open
 * stream nothing happens. audit_write(AUDIT_kill, "%s\n%d\n%s", process, pid, reason)
 */
void audit_write(enum audit_event event, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* From here on this broker says what it does: before the worker can ask it for anything. */
int audit_connect(struct channel *broker);

/* There is a stream, and its helper is gone or no longer reads. */
bool audit_lost(void);

/* When the worker is gone: waits for what the broker still says, and for the last record. */
void audit_end(int status);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit stream: one record a line, of key=value or JSON, appended to a file. A process has one
 * stream. A record that cannot be written leaves a gap in the sequence numbers. A record is
 * printable ASCII.
 */
#ifndef KEYHOLE_HELPER_RECORD_H
#define KEYHOLE_HELPER_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "helper/audit/tally.h"
#include "ipc/messages.h"

/* Begins the stream; the file becomes ours. The arguments, NULL terminated, stay. */
void record_start(int fd, bool json, const char *const *arguments);

#define RECORD_FIELDS_MAX 8
struct record_value {
	const char *text;
	uint64_t number;
};

/* Writes a record, with as many values as the event has fields. */
void record_write(enum audit_event event, const struct record_value *values);

void record_operations(const struct operations *operations);

/* Writes the last record. Says on standard error if a record could not be written. */
void record_end(uint64_t status);

#endif

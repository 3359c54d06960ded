/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of jit-PID.dump, the file in which a program names the code that it makes, with times.
 * The format is that of perf: tools/perf/Documentation/jitdump-specification.txt of Linux. Numbers
 * of another byte order are refused. Unwind information is left out.
 */
#ifndef KEYHOLE_WORKER_MADE_JITDUMP_H
#define KEYHOLE_WORKER_MADE_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JITDUMP_HEADER_BYTES 40
#define JITDUMP_RECORD_BYTES 2048 /* of a record: enough to parse it with its name */
#define JITDUMP_LINE_MAX     0xffffffu

struct jitdump_header {
	uint32_t bytes; /* where the first record begins */
	bool is_timed;	/* times are those of CLOCK_MONOTONIC */
};

enum jitdump_kind {
	JITDUMP_LOAD,
	JITDUMP_MOVE,
	JITDUMP_LINES, /* of the code that the next LOAD has, if it starts there */
	JITDUMP_OTHER,
};

struct jitdump_record {
	enum jitdump_kind kind;
	uint32_t bytes; /* of the record, at least 16 */
	uint64_t time;	/* ns */
	uint64_t start, size;
	uint64_t from;	  /* MOVE: the start before */
	const char *name; /* LOAD: in the record; raw */
	size_t name_bytes;
};

/* Returns whether these are the first bytes of such a file. */
bool jitdump_is(const void *bytes, size_t size);
/* Returns 0 or -EINVAL. */
int jitdump_begin(const void *bytes, size_t size, struct jitdump_header *ret_header);
/*
 * Reads the record at the start of the bytes, which may lack its end. Returns 0, -EAGAIN: too few
 * bytes are there, or -EINVAL: nothing behind it can be found.
 */
int jitdump_parse(const void *bytes, size_t size, struct jitdump_record *ret_record);

struct jitdump_line {
	const char *file; /* in the record; raw: the first one that the record names */
	size_t file_bytes;
	uint32_t line; /* in that file; 0: not known */
};
/*
 * Finds the line of an address in a whole record of lines. Returns 0, or -EINVAL: an entry is none,
 * or there is none.
 */
int jitdump_find_line(const void *bytes, size_t size, uint64_t address,
		      struct jitdump_line *ret_line);

#endif

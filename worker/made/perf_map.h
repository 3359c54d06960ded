/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line of /tmp/perf-PID.map: "START SIZE NAME", where both numbers are hexadecimal. The format
 * is that of perf: tools/perf/Documentation/jit-interface.txt of Linux.
 */
#ifndef KEYHOLE_WORKER_MADE_PERF_MAP_H
#define KEYHOLE_WORKER_MADE_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_MAP_LINE_MAX 4096 /* bytes, with the line feed; longer lines are left out */
#define PERF_MAP_NAME_MAX 1023 /* bytes of a name that are kept */

struct perf_map_line {
	uint64_t start, size; /* size is at least 1; the end is a 64-bit number */
	const char *name;     /* in the line; raw */
	size_t name_bytes;    /* 1 to PERF_MAP_NAME_MAX */
};

/* Reads a line of `size` bytes without its line feed. Returns 0 or -EINVAL. */
int perf_map_parse(const void *line, size_t size, struct perf_map_line *ret_line);

/*
 * Takes the mark of the compiler out of a name, so that a function has one name. V8's "JS:*f"
 * becomes "JS:f", and "f()[Tier1]" of .NET becomes "f()". "[JIT] f" of Ruby, and "JIT$f" and
 * "TRACE-1$f$12" of PHP become "f". Changes the bytes in place, and returns their new number.
 */
size_t perf_map_strip(char *name, size_t bytes);

struct perf_map_place {
	size_t name_bytes, file_at, file_bytes; /* in the name */
	uint32_t line;
};
/*
 * Finds the source in a name of V8 or CPython: "JS:f /srv/app.js:12:7", "py::f:/srv/app.py". Line
 * 0: the name has none. Returns 0, or -ENOENT: the name has no source.
 */
int perf_map_split(const char *name, struct perf_map_place *ret_place);
/* Returns whether the function has no name but its source. */
bool perf_map_is_anonymous(const struct perf_map_place *place);

#endif

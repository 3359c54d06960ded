/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the locations of a profile their functions, object by object, at the end of a recording. */
#ifndef KEYHOLE_WORKER_NAMING_NAMING_H
#define KEYHOLE_WORKER_NAMING_NAMING_H

#include <stdint.h>

#include "ipc/time.h"

struct profile;
struct resources;
struct source_lines_counts;

/* The sources of names, in the order in which they are asked and logged: a row each in naming.c. */
enum naming_source {
	NAMED_BY_KERNEL,
	NAMED_BY_RUNTIMES,
	NAMED_BY_MAPS, /* perf-PID.map: code made at run time */
	NAMED_BY_GO,
	NAMED_BY_TABLES, /* .symtab, .dynsym */
	NAMED_BY_DEBUGDATA,
	NAMED_BY_DEBUG_FILES,
	NAMED_BY_STARTS,  /* no name: by the start of the function */
	NAMED_BY_OFFSETS, /* no name: by the address itself */
	NAMING_SOURCES
};

struct naming_counts {
	uint64_t named[NAMING_SOURCES]; /* addresses */
	uint64_t bytes;			/* object_names.h, of all objects */
};

/* Returns how the log calls a source. */
const char *naming_source_label(enum naming_source source);

struct naming_parts {
	const struct resources *resources; /* borrowed */
	struct naming_counts *counts;
	/* NULL: lines and inlined functions are not wanted */
	struct source_lines_counts *line_counts;
	/* Called between the names and the lines; NULL: nothing is called. */
	void (*named)(void *context);
	void *named_context;
	uint64_t patience; /* ns after which no object is begun any more; 0: all are */
};

/* Time for all names, in ns. A recording must end, whatever its targets put into their files. */
#ifndef NAMING_BUDGET
#define NAMING_BUDGET (10 * NS_PER_SECOND)
#endif
/*
 * Bytes of symbol names, source files and inlined functions that one object, and all objects of a
 * recording, may add to the profile. Ordinary objects add some hundred bytes for each address.
 * Names by offset do not count: each address has at most one.
 */
#ifndef NAMING_OBJECT_BYTES_MAX
#define NAMING_OBJECT_BYTES_MAX (16u << 20)
#endif
#ifndef NAMING_BYTES_MAX
#define NAMING_BYTES_MAX (64u << 20)
#endif

/*
 * Names all locations that have no function yet. Describes their objects, and turns offsets in
 * files into addresses of the object. Returns:
 *   0        all locations are named
 *   1        the patience ended; locations of some objects keep their offset until the next call
 *   -ENOMEM  no memory
 * The call goes on after these failures:
 *   unreadable object  its locations are shown by their offset
 *   NAMING_BUDGET      a late object's locations are shown by the start of their function, or by
 *                      their offset; the log tells how many objects were late
 *   no room for names  the same; the cache counts the object once, as refused
 */
int naming_run(const struct naming_parts *parts);

/*
 * Does what naming_run() can do without a file of a target. Describes the objects and turns offsets
 * into addresses. Names the kernel's code and code without a file. Returns 0 or -ENOMEM.
 */
int naming_describe(const struct naming_parts *parts);

/* Returns the samples whose innermost frame has no symbol's name, after naming_run(). */
uint64_t naming_without(const struct profile *profile);
/* Returns the locations that have no name at all, for want of memory. */
uint64_t naming_failed(const struct profile *profile);

#endif

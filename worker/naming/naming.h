/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the locations of a profile their functions, object by object, at the end of a recording. */
#ifndef KEYHOLE_WORKER_NAMING_NAMING_H
#define KEYHOLE_WORKER_NAMING_NAMING_H

#include <stdint.h>

#include "ipc/time.h"

struct debug_peer;
struct kernel_symbols;
struct late_names;
struct objects;
struct profile;
struct redact;
struct samples;
struct source_lines_counts;
struct symbol_cache;

/* Addresses by the source of their name. */
struct naming_counts {
	uint64_t kernel, go;
	uint64_t tables; /* .symtab, .dynsym */
	uint64_t debugdata, debug_files;
	uint64_t starts, offsets; /* no name: shown by the function's start, or by offset */
	uint64_t bytes;		  /* of all objects, see object_names.h */
};

struct naming_parts {
	struct profile *profile;
	const struct objects *objects;
	const struct samples *samples;
	const struct kernel_symbols *symbols;
	const struct late_names *late_names;
	const struct redact *redact;
	struct symbol_cache *cache;
	struct debug_peer *debug_files; /* NULL: none */
	struct naming_counts *counts;
	/* NULL: lines and inlined functions are not wanted */
	struct source_lines_counts *line_counts;
	uint64_t (*clock)(void); /* CLOCK_MONOTONIC, ns */
	uint64_t patience;	 /* ns, after which no further object is begun; 0: no limit */
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

/* Returns the samples whose innermost frame has no symbol's name, after naming_run(). */
uint64_t naming_without(const struct profile *profile);
/* Returns the locations that have no name at all, for want of memory. */
uint64_t naming_failed(const struct profile *profile);

#endif

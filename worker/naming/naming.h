/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the locations of a profile their functions, object by object, at the end of a recording. */
#ifndef KEYHOLE_WORKER_NAMING_NAMING_H
#define KEYHOLE_WORKER_NAMING_NAMING_H

#include <stdint.h>

#include "ipc/time.h"

struct debug_peer;
struct source_lines_counts;
struct kernel_symbols;
struct late_names;
struct objects;
struct profile;
struct redact;
struct samples;

struct symbol_cache;

/* Addresses by the source of their name. */
struct naming_counts {
	uint64_t kernel, go;
	uint64_t tables; /* .symtab, .dynsym */
	uint64_t debugdata, debug_files;
	uint64_t starts, offsets; /* no name: shown by the function's start, or by offset */
	uint64_t bytes;		  /* of names and functions that were added to the profile */
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
	struct source_lines_counts *inlines; /* NULL: lines and inlined functions are not wanted */
	uint64_t (*clock)(void);	     /* CLOCK_MONOTONIC, ns */
	uint64_t patience; /* ns, after which no further object is begun; 0: no limit */
};

/* Time for all names, in ns. A recording must end, whatever its targets put into their files. */
#ifndef NAMING_BUDGET
#define NAMING_BUDGET (10 * NS_PER_SECOND)
#endif
/*
 * Bytes of names and functions that one object, and all objects of a recording, may add to the
 * profile. Ordinary objects add some hundred bytes for each address.
 */
#ifndef NAMING_OBJECT_BYTES_MAX
#define NAMING_OBJECT_BYTES_MAX (16u << 20)
#endif
#ifndef NAMING_BYTES_MAX
#define NAMING_BYTES_MAX (64u << 20)
#endif

/*
 * Turns offsets in files into addresses of the object, describes the objects and names all
 * locations that have no function yet. Returns 0, -ENOMEM or 1. 1: patience ended before some
 * objects, whose locations keep their offset until the next call.
 *
 * An object that cannot be read any more, or not within NAMING_BUDGET, only loses its names. Its
 * locations are shown by the start of their function. Late objects are logged. An object whose
 * names have no room is logged too, and the cache counts it once as refused.
 */
int naming_run(const struct naming_parts *parts);

/* Returns the samples whose innermost frame has no symbol's name, after naming_run(). */
uint64_t naming_without(const struct profile *profile);
/* Returns the locations that have no name at all, for want of memory. */
uint64_t naming_failed(const struct profile *profile);

#endif

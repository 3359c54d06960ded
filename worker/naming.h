/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the locations of a profile their functions, object by object, at the end of a recording. */
#ifndef KEYHOLE_WORKER_NAMING_H
#define KEYHOLE_WORKER_NAMING_H

#include <stdint.h>

struct kernel_symbols;
struct objects;
struct profile;
struct samples;

struct naming_parts {
	struct profile *profile;
	const struct objects *objects;
	const struct samples *samples;
	const struct kernel_symbols *symbols;
};

/*
 * Turns offsets in files into addresses of the object, describes the objects and names all
 * locations. To be called once, when no more samples come. 0 or -ENOMEM; an object that cannot be
 * read any more costs its names only.
 */
int naming_run(const struct naming_parts *parts);

/* Samples with at least one frame without a name; after naming_run(). */
uint64_t naming_without(const struct profile *profile);

#endif

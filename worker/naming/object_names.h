/* SPDX-License-Identifier: Apache-2.0 */
/* One object whose places get names. Each source of names works on this struct. */
#ifndef KEYHOLE_WORKER_NAMING_OBJECT_NAMES_H
#define KEYHOLE_WORKER_NAMING_OBJECT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/elf/image.h"
#include "profile/place.h"

struct object;
struct profile_function;
struct resources;
struct symbol_match;

/* Shared by all objects of a run. */
struct naming_budget {
	uint64_t deadline; /* CLOCK_MONOTONIC, ns */
	uint64_t late;	   /* objects that were not named in time */
	size_t bytes;	   /* added for all objects, counted as below */
};

struct object_names {
	/* borrowed */
	const struct resources *resources;
	const struct object *object;
	struct naming_budget *budget;
	struct place *places;
	size_t count;
	/* owned, from object_names_open() to object_names_close() */
	bool late, full;     /* has been counted */
	size_t bytes;	     /* that object_names_add_*() have brought to the profile */
	struct image *image; /* NULL: cannot be read */
	struct image_segment segments[IMAGE_SEGMENTS_MAX]; /* executable */
	size_t segment_count;
	/* room for `count`; the first unnamed_count are places without a name, ascending */
	struct place *unnamed;
	uint64_t *unnamed_addresses;
	size_t unnamed_count;
	/* room for `count`, for use by the current source */
	struct symbol_match *matches;
	uint64_t *starts;
};

/* Describes the object in the profile as far as it is known without its file. */
void object_names_describe(struct object_names *names);
/* Opens the object's image, if that can be read, and describes the object in the profile. 0 or
 * -ENOMEM; to be closed either way. */
int object_names_open(struct object_names *names);
void object_names_close(struct object_names *names);

/* Fills unnamed[] with the places that still have no name. */
void object_names_update(struct object_names *names);

/* Returns false from the deadline on, and counts the object as late once. */
bool object_names_in_time(struct object_names *names);
/* Returns false when this object, or all objects, have no room left. The cache counts that once. */
bool object_names_have_room(struct object_names *names);

/*
 * Add to the profile, and count what is new there in bytes. raw: as the target's file has it; the
 * profile gets what the policy leaves of it. PROFILE_FAILED: no memory.
 */
uint32_t object_names_add_function_name(struct object_names *names, const char *raw);
uint32_t object_names_add_source(struct object_names *names, const char *raw);
uint32_t object_names_add_function(struct object_names *names,
				   const struct profile_function *function);

/* Whether the policy drops names of functions. */
bool object_names_drops_functions(const struct object_names *names);
/* Names a place by a symbol, or by the symbol's start when the policy drops names of functions. */
void object_names_set_symbol(struct object_names *names, const struct place *place,
			     const struct symbol_match *match);
/* Names a place by "file+0x123": the start of its function, 0: its own address. named: a symbol has
 * that start, and the policy drops the symbol's name. */
void object_names_set_offset(const struct object_names *names, const struct place *place,
			     uint64_t start, bool named);
/* Names a place by the object's path. */
void object_names_set_path(const struct object_names *names, const struct place *place);

#endif

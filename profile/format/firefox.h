/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves the format "firefox" alone. firefox.c writes threads, firefox_stacks.c makes the tables
 * that all threads share, and firefox_tables.c writes the tables. A row of a table has an id, which
 * is the row's index + 1; 0: none.
 */
#ifndef KEYHOLE_PROFILE_FORMAT_FIREFOX_H
#define KEYHOLE_PROFILE_FORMAT_FIREFOX_H

#include <stdint.h>

#include "profile/format/json.h"
#include "profile/format/lines.h"
#include "profile/format/output.h"
#include "profile/format/threads.h"

struct intern;
struct profile;
struct profile_times;

struct firefox_node {	 /* a row of stackTable */
	uint32_t parent; /* id of a node */
	uint32_t frame;	 /* id of a frame */
};

struct firefox_frame { /* a row of frameTable: a line of a location */
	uint32_t location;
	uint32_t function; /* id of a row of funcTable */
	uint32_t line;	   /* 0: not known */
	uint32_t depth;	   /* 0: not inlined */
};

struct firefox {
	const struct profile *profile;	   /* borrowed */
	const struct profile_times *times; /* borrowed */
	struct output output;
	struct json json;
	struct format_threads threads;
	struct intern *strings;	    /* raw; ids are indexes in stringArray, as "" is the first */
	struct intern *sources;	    /* raw paths; "" is no source */
	struct firefox_node *nodes; /* by id, less 1 */
	uint32_t node_count;
	size_t node_capacity;
	uint32_t *stacks;	      /* by stack of the profile: the id of its leaf's node */
	struct firefox_frame *frames; /* by id, less 1 */
	size_t frame_count, frame_capacity;
	struct format_lines lines; /* ids of frames */
	/*
	 * funcTable has the functions of the profile first. Frames without a function follow, each
	 * as a function of its own: these are their ids.
	 */
	uint32_t *own;
	uint32_t own_count;
	size_t own_capacity;
};

/*
 * Makes frames, nodes and stacks of firefox->profile; other members stay as they are. Returns 0 or
 * -ENOMEM. The caller releases the stacks either way.
 */
int firefox_stacks_init(struct firefox *firefox);
void firefox_stacks_release(struct firefox *firefox); /* also of zeros */

/* Write members of the profile: a key and its value. Errors go to firefox->output. */
void firefox_put_categories(struct firefox *firefox);
void firefox_put_libs(struct firefox *firefox);
void firefox_put_shared(struct firefox *firefox);

/* Writes a column of `length` rows, which all have the same value: JSON text. */
void firefox_column_of(struct firefox *firefox, const char *name, uint32_t length,
		       const char *value);
/* Writes a table without rows. `columns` are names, and end with NULL. */
void firefox_empty_table(struct firefox *firefox, const char *name, const char *const *columns);

#endif

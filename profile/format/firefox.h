/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Within the format "firefox": what all threads share (firefox_tables.c), and columns. Everything
 * that has a row in a table has an id, which is the row's index + 1; 0: none.
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

struct firefox_node {
	uint32_t parent, frame; /* ids */
};

struct firefox_frame { /* a line of a location */
	uint32_t location;
	uint32_t function; /* id */
	uint32_t line;	   /* 0: not known */
	uint32_t depth;	   /* 0: not inlined */
};

struct firefox {
	const struct profile *profile;
	const struct profile_times *times;
	struct output output;
	struct json json;
	struct format_threads threads;
	struct intern *strings;	    /* their ids are indexes, as "" is the first */
	struct intern *sources;	    /* paths; "" is no source */
	struct firefox_node *nodes; /* of the table of stacks, in the order of their ids */
	uint32_t node_count;
	size_t node_capacity;
	uint32_t *stacks;	      /* by stack: the id of its leaf's node */
	struct firefox_frame *frames; /* in the order of their ids */
	struct format_lines lines;    /* ids of frames */
	uint32_t *own; /* ids of frames that are functions of their own, behind the profile's */
	uint32_t own_count;
	size_t frame_count, frame_capacity, own_capacity;
};

/*
 * Returns 0 or -ENOMEM. Finds functions and the tree of stacks; threads and output are the
 * caller's.
 */
int firefox_tables_init(struct firefox *firefox);
void firefox_tables_release(struct firefox *firefox); /* also after a failure */

/* Values of the profile's keys. */
void firefox_put_categories(struct firefox *firefox);
void firefox_put_libs(struct firefox *firefox);
void firefox_put_shared(struct firefox *firefox);

void firefox_column_of(struct firefox *firefox, const char *name, uint32_t length,
		       const char *value);
/* A table without rows; columns end with NULL. */
void firefox_empty_table(struct firefox *firefox, const char *name, const char *const *columns);

#endif

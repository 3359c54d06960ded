/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of split.c in a request, for split_write.c, which writes parts of it. */
#ifndef KEYHOLE_EXPORTER_OTLP_SPLIT_IMPL_H
#define KEYHOLE_EXPORTER_OTLP_SPLIT_IMPL_H

#include <stdbool.h>

#include "exporter/otlp/split.h"

#define SPLIT_CHILD 2u /* field number of scope_profiles, profiles and samples alike */

/* The tables of the dictionary by their field numbers, less one. */
enum table {
	TABLE_MAPPING,
	TABLE_LOCATION,
	TABLE_FUNCTION,
	TABLE_LINK,
	TABLE_STRING,
	TABLE_ATTRIBUTE,
	TABLE_STACK,
	TABLES
};

/* A message of the request. */
struct node {
	uint32_t at, size; /* of its content */
	uint32_t parent;   /* the node of the level above */
};

enum level {
	LEVEL_RESOURCE,
	LEVEL_SCOPE,
	LEVEL_PROFILE,
	LEVEL_SAMPLE,
	LEVELS
};

struct nodes {
	struct node *items;
	size_t count, capacity;
};

struct elements {
	struct nodes nodes; /* without parents */
	uint32_t *number;   /* in the part: 0 for elements that it does not have yet */
	uint32_t *order;    /* elements of the part, by number less one */
	uint32_t used;	    /* numbers given so far */
};

struct split {
	const uint8_t *bytes;
	size_t size, items;
	struct nodes levels[LEVELS];
	uint32_t *events; /* of each sample, UINT32_MAX at most */
	struct elements tables[TABLES];
	struct buffer *buffer; /* of the part that is being written */
	bool bad;	       /* the part refers to what is not there */
};

/* Returns a reader of the message. */
static inline struct reader node_reader(const struct split *split, const struct node *node)
{
	struct reader reader;

	reader_init(&reader, split->bytes + node->at, node->size);
	return reader;
}

#endif

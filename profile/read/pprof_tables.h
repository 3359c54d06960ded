/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a pprof file: where its parts lie, and which entry an id means. */
#ifndef KEYHOLE_PROFILE_READ_PPROF_TABLES_H
#define KEYHOLE_PROFILE_READ_PPROF_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/reader.h"
#include "profile/read/pprof_read.h"

struct map;

enum pprof_field { /* of Profile in proto/profile.proto */
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE,
	PPROF_MAPPING,
	PPROF_LOCATION,
	PPROF_FUNCTION,
	PPROF_STRING,
	PPROF_TIME = 9,
	PPROF_DURATION,
	PPROF_PERIOD_TYPE,
	PPROF_PERIOD,
	PPROF_COMMENT,
	PPROF_DEFAULT_TYPE
};

struct pprof_span { /* of the file */
	uint32_t at, size;
};

struct pprof_spans {
	struct pprof_span *items;
	size_t count, capacity;
};

struct pprof_value_type {
	uint64_t type, unit; /* strings */
};

#define PPROF_COMMENTS_MAX 16u /* more are ignored */

struct pprof_tables {
	struct pprof_spans strings, mappings, functions, locations;
	struct pprof_value_type types[PPROF_TYPES_MAX], period_type;
	uint32_t type_count;
	uint64_t samples;		       /* messages */
	uint64_t comments[PPROF_COMMENTS_MAX]; /* strings */
	uint32_t comment_count;
	uint64_t time, duration, period, default_type;
};

/* The ids of a file's entries: any numbers but 0, mostly 1, 2, 3 … */
struct pprof_ids {
	uint64_t counted; /* the first ones are 1 to this, in order */
	uint32_t *dense;  /* index + 1 */
	uint64_t limit;
	struct map *sparse;
};

/*
 * Reads the outermost message. Returns 0 or an errno of pprof_read(), which *ret_problem explains.
 */
int pprof_tables_read(struct pprof_tables *tables, const void *bytes, size_t size,
		      const char **ret_problem);
void pprof_tables_release(struct pprof_tables *tables);

int pprof_ids_init(struct pprof_ids *ids, size_t count); /* 0 or -ENOMEM */
void pprof_ids_release(struct pprof_ids *ids);
/* Returns 0, -ENOMEM, or -EBADMSG for the id 0 and for an id that is taken. */
int pprof_ids_put(struct pprof_ids *ids, uint64_t id, uint32_t index);
uint32_t pprof_ids_sparse(const struct pprof_ids *ids, uint64_t id);

/* Returns index + 1, or 0 for an unknown id. */
static inline uint32_t pprof_ids_get(const struct pprof_ids *ids, uint64_t id)
{
	if (id <= ids->counted)
		return (uint32_t)id;
	if (id < ids->limit)
		return ids->dense[id];
	return pprof_ids_sparse(ids, id);
}

#endif

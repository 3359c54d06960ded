/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the reader of pprof files: what it knows of one while it reads. */
#ifndef KEYHOLE_PROFILE_READ_PPROF_INPUT_H
#define KEYHOLE_PROFILE_READ_PPROF_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/read/pprof_read.h"
#include "profile/read/pprof_tables.h"
#include "profile/profile.h"

struct map;

enum pprof_label {
	LABEL_OTHER,
	LABEL_PID,
	LABEL_TID,
	LABEL_COMM,
	LABEL_THREAD,
	LABEL_CGROUP,
	LABEL_REASON,
	LABELS
};

struct pprof_string { /* of the file */
	uint32_t id;  /* in the model; 0: empty */
	uint8_t label;
};

struct pprof_function { /* strings of the model */
	uint32_t name, system_name, file, line;
};

struct pprof_input {
	const unsigned char *bytes;
	size_t size;
	const struct pprof_options *options;
	struct profile *profile;
	struct pprof_info *info;
	struct pprof_tables tables;
	struct pprof_string *strings;
	struct pprof_function *functions;
	struct pprof_ids mapping_ids, function_ids, location_ids;
	uint32_t first_object, first_location; /* in the model, of those of this file */
	size_t first_sample;		       /* in the model, from 0 */
	uint32_t file_name;		       /* of processes that have no name */
	uint64_t lines;
	bool commented;	     /* by keyhole */
	struct map *markers; /* objects of the model by name */
	uint32_t column;     /* of a sample's values */
	uint32_t checked;    /* a second one, which must be the first * checked_by */
	uint64_t checked_by; /* 0: it is not looked at */
	uint64_t scale;	     /* of a value to a count */
	uint32_t stack[PROFILE_STACK_MAX];
};

/* They return r; the problem is for people. */
__attribute__((format(printf, 3, 4))) int pprof_refuse(struct pprof_input *in, int r,
						       const char *format, ...);
int pprof_malformed(struct pprof_input *in, const char *what); /* -EBADMSG */

/* What an index means; *r becomes -EBADMSG where there is none. */
const struct pprof_string *pprof_string(struct pprof_input *in, uint64_t index, int *r);
const char *pprof_text(struct pprof_input *in, uint64_t index, int *r);

/* In this order: each fills the model and what finds its entries by the ids of the file. */
int pprof_read_strings(struct pprof_input *in);
int pprof_read_mappings(struct pprof_input *in);
int pprof_read_functions(struct pprof_input *in);
int pprof_read_locations(struct pprof_input *in);

#endif

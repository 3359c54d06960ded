/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the reader of pprof files: its state while it reads one file. */
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
#define L(id, key) LABEL_##id,
#include "profile/pprof_labels.def"
#undef L
	LABELS
};

struct pprof_string {  /* of the file */
	uint32_t id;   /* in the model; 0: empty */
	uint8_t label; /* enum pprof_label, where a label's key is this string */
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
	uint32_t first_object, first_location; /* ids in the model, of this file's first ones */
	size_t first_sample;		       /* index in the model, of this file's first one */
	uint32_t file_name;		       /* stands for the name of a nameless process */
	uint64_t lines;			       /* read so far */
	bool commented;			       /* by keyhole, which walked the stacks */
	struct map *markers;		       /* objects of the model by name */
	uint32_t column;		       /* the value of a sample that is counted */
	bool has_waits;	     /* column 0 says how many waits a sample stands for */
	bool has_states;     /* a column has times of threads: samples have labels T() */
	uint32_t checked;    /* the column that must be values * checked_by */
	uint64_t checked_by; /* 0: no column is checked */
	uint64_t scale;	     /* a count is a value * scale */
	uint32_t stack[PROFILE_STACK_MAX];
};

/* Say the problem to people in info, and return r or -EBADMSG. */
__attribute__((format(printf, 3, 4))) int pprof_refuse(struct pprof_input *in, int r,
						       const char *format, ...);
int pprof_malformed(struct pprof_input *in, const char *what);

struct reader pprof_open_span(const struct pprof_input *in, const struct pprof_span *span);

/*
 * Return the string of an index, or an empty one and *r = -EBADMSG for an index beyond the table.
 */
const struct pprof_string *pprof_string(struct pprof_input *in, uint64_t index, int *r);
const char *pprof_text(struct pprof_input *in, uint64_t index, int *r);

/* Does as pprof_ids_put(), and says the problem of a bad id. */
int pprof_put_id(struct pprof_input *in, struct pprof_ids *ids, uint64_t id, uint32_t index,
		 const char *problem);

/* Returns the number, or 0, "not known", for one that no source file has. */
static inline uint32_t pprof_line_number(uint64_t number)
{
	if (number > UINT32_MAX)
		return 0;
	return (uint32_t)number;
}

/*
 * Fill the model, and the tables that find entries of the model by the ids of the file. Called in
 * this order.
 */
int pprof_read_strings(struct pprof_input *in);
int pprof_read_mappings(struct pprof_input *in);
int pprof_read_functions(struct pprof_input *in);
int pprof_read_locations(struct pprof_input *in);

/*
 * Chooses which value of a sample is its count. With `linear`, a column of time gives way to the
 * column of samples, where the file has a period: samples * period is the time. A column of samples
 * gets the file's period, so that its samples have a time as well.
 */
int pprof_choose_values(struct pprof_input *in, bool linear);

/*
 * Adds a sample's value to the total. Returns -EDOM for a value that is no multiple of the period.
 */
int pprof_take_value(struct pprof_input *in, const uint64_t *values, uint64_t *ret_count);

/*
 * Turns to the values of the file after -EDOM. Values of earlier samples were multiples of the
 * period, so that their counts in the model can be scaled.
 */
int pprof_leave_period(struct pprof_input *in);

#endif

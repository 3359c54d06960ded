/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the text of policy files into rows, in an order of their own: equal policies give equal
 * rows, and an equal hash. The parser touches its arguments alone.
 */
#ifndef KEYHOLE_HELPER_RULES_PARSER_H
#define KEYHOLE_HELPER_RULES_PARSER_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/messages.h"

/* The version of the rules' meaning. A file may name its version; a file of another is refused. */
#define POLICY_VERSION 1u

/* Texts are printable ASCII, padded with NULs. */
enum policy_row_kind {
	ROW_UID, /* value: the uid */
	ROW_CGROUP,
	ROW_COMM,
	ROW_EXECUTABLE,
	ROW_FREQUENCY,	   /* value: Hz */
	ROW_NAMES,	   /* value: enum names_kind; mode */
	ROW_GO_STACKS,	   /* no stack of Go is crossed; "yes" makes no row */
	ROW_MEMORY_CGROUP, /* BPF's rule, and the next ones are the broker's */
	ROW_MEMORY_UID,	   /* as the rows of deny rules */
	ROW_MEMORY_COMM,
	ROW_MEMORY_EXECUTABLE,
	ROW_RUNTIME,   /* a name as of policy/grants.def */
	ROW_PERF_MAPS, /* the broker opens no perf-PID.map; "yes" makes no row */
	ROW_CONTEXTS,  /* the broker reads no process context; "yes" makes no row */
	ROW_VARIABLE,  /* of environments, which the broker reads */
	ROW_KINDS
};
struct policy_row {
	uint32_t kind, value;
	uint32_t file, line;	      /* where it is: file as of struct policy_rows */
	uint32_t mode;		      /* ROW_NAMES: enum names_mode, else 0 */
	char text[POLICY_PATH_BYTES]; /* the rest of the line, behind the words of its kind */
};
/* The words that a line of each kind begins with, with a blank behind them. */
extern const char *const policy_words[ROW_KINDS];

#define DENY_RULES_MAX	  64u	 /* of each kind */
#define POLICY_FILE_BYTES 65536u /* larger files are refused */
#define POLICY_HASH_BYTES 65	 /* SHA-256 in hex, with its NUL */
#define POLICY_ROWS_MAX	  (9 * DENY_RULES_MAX + 3 + NAMES_KINDS + GRANT_VARIABLES_MAX)

struct policy_rows {
	struct policy_row row[POLICY_ROWS_MAX]; /* by kind, then text; without equal ones */
	size_t count;
	uint32_t file;	    /* of the rows that come; 0: the first */
	uint32_t line;	    /* of the error */
	const char *reason; /* of the error: static */
};

/* Returns 0, or -EINVAL with line and reason set: a file with an error has no valid rule. */
int policy_parse(const char *text, size_t size, struct policy_rows *ret_rows);

/*
 * Adds the rows of a further file. Where the files contradict each other, the lower frequency
 * holds, and the name is dropped. Returns as above, with rows->file of the further file.
 */
int policy_parse_more(const char *text, size_t size, struct policy_rows *rows);

/* Hashes the rows' canonical lines ("deny uid 1000\n" ...). The hash identifies a policy. */
void policy_hash(const struct policy_rows *rows, char ret_hex[POLICY_HASH_BYTES]);

#endif

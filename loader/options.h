/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of `keyhole record`. keyhole-options reads the command line and answers with numbers
 * and places; the loader parses no command line.
 */
#ifndef KEYHOLE_LOADER_OPTIONS_H
#define KEYHOLE_LOADER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/messages.h"
#include "loader/export.h"

struct options {
	struct message_options given;	   /* numbers, and places of the texts below */
	const char *cgroup, *audit, *comm; /* NULL: none */
	const char *policy;		   /* file; NULL: the default one, if it exists */
	const char *debug_dirs;		   /* separated by colons; NULL: the default */
	const char *output;		   /* "-" for standard output */
	char **command; /* NULL terminated, in the caller's argv behind `--`, or NULL */
	const char *const *arguments; /* NULL terminated: all arguments of keyhole */
	struct export export;	      /* OPTIONS_AGENT alone */
};

/*
 * Looks up the texts of options->given in argv and in the structure itself, which must not move
 * afterwards. The status of options->given is OPTIONS_RECORD. Returns 0, or -EPROTO when a number
 * or a place is outside of the loader's bounds.
 */
int options_check(int argc, char **argv, struct options *options);

/*
 * Starts keyhole-options, before anything else, and waits for the answer. Returns OPTIONS_RECORD,
 * OPTIONS_CHECK, or the exit status when there is nothing to record; the reason was printed.
 */
int options_read(int argc, char **argv, struct options *ret_options);

/* Returns which of the RULES_VERB_* a recording with the options needs. */
const char *options_rules_verb(const struct options *options);

/*
 * Runs the program of ipc/verbs.def that has the verb argv[0]. Returns EXIT_DONE when no program
 * has that verb, and EXIT_FAILED when the program cannot be run, which was logged.
 */
int options_exec_verb(char **argv);

#endif

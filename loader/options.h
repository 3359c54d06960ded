/* SPDX-License-Identifier: Apache-2.0 */
/* What `keyhole record` is to do, as keyhole-options read it: the loader parses no command line. */
#ifndef KEYHOLE_LOADER_OPTIONS_H
#define KEYHOLE_LOADER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/messages.h"

struct options {
	struct message_options given; /* its numbers; places of texts are looked up in the rest */
	const char *cgroup, *audit, *comm; /* NULL: none */
	const char *policy;		   /* file; NULL: the default one, if it exists */
	const char *debug_dirs;		   /* separated by colons; NULL: the default */
	const char *output;		   /* "-" for standard output */
	char **command; /* NULL terminated, in the caller's argv behind `--`, or NULL */
	const char *const *arguments; /* NULL terminated: all of them */
};

/*
 * Looks up the texts of options->given, which says OPTIONS_RECORD, in argv, or in itself: the
 * structure stays where it is. 0, or -EPROTO where the loader could not go on with what is given.
 */
int options_check(int argc, char **argv, struct options *options);

/*
 * Before anything else: starts keyhole-options and waits for its answer. OPTIONS_RECORD, or the
 * exit status where nothing is to be recorded; why not was printed.
 */
int options_read(int argc, char **argv, struct options *ret_options);

/*
 * Runs the program of ipc/verbs.def that has the verb argv[0]. Returns when there is none, with
 * EXIT_DONE, or when it cannot be run: that was said.
 */
int options_exec_verb(char **argv);

#endif

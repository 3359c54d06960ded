/* SPDX-License-Identifier: Apache-2.0 */
/* What `keyhole record` is to do, as keyhole-options read it: the loader parses no command line. */
#ifndef KEYHOLE_LOADER_OPTIONS_H
#define KEYHOLE_LOADER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/messages.h"

struct options { /* at most one of pids, cgroup and command; otherwise the whole machine */
	pid_t pids[OPTIONS_PIDS_MAX];
	unsigned int pid_count;
	const char *cgroup;
	char **command; /* NULL terminated, in the caller's argv behind `--` */
	unsigned int frequency;
	uint64_t duration;	      /* ns, 0 = until stopped */
	const char *output;	      /* "-" for standard output */
	const char *audit;	      /* file, or NULL */
	const char *const *arguments; /* NULL terminated: all of them */
	enum profile_format format;
	uint32_t require; /* layers of confinement, bits of policy/layers.def */
	bool force, by_thread, verbose;
};

/*
 * 0, or -EPROTO for a message with which the loader could not go on. The message, about argv, says
 * OPTIONS_RECORD; the result points into both.
 */
int options_check(int argc, char **argv, const struct message_options *message,
		  struct options *ret_options);

/*
 * Before anything else: starts keyhole-options and waits for its answer. OPTIONS_RECORD, or the
 * exit status where nothing is to be recorded; why not was printed.
 */
int options_read(int argc, char **argv, struct options *ret_options);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runs with the invoking user's rights: keyhole-output, which makes the output file and shows
 * what was counted, and the command of `record -- CMD`. Both are started before the loader's umask,
 * limits, signals and rights change, because they are inherited.
 */
#ifndef KEYHOLE_LOADER_USER_H
#define KEYHOLE_LOADER_USER_H

#include <stdbool.h>
#include <sys/types.h>

#include "ipc/channel.h"
#include "policy/policy.h"

struct output {
	int fd;	     /* for the exporter; write only, owned */
	int manager; /* the service manager's socket, or -1; until the end */
	pid_t pid;
	struct channel channel;
};

/*
 * "-" is standard output; force replaces a file of that name; debug_dirs as in the options. 0, or
 * why the file cannot be written:
 * -EEXIST (without force), -EACCES, -ENOENT (no such directory), -EISDIR, -EINVAL (neither file nor
 * link), ...
 */
int output_start(struct output *ret_output, const char *path, bool force, const char *debug_dirs,
		 const struct policy_user *user);

/* See sd_notify(3). Without waiting: what the manager has no room for is lost. */
void output_notify(const struct output *output, const char *state);

/* Always, at the end: without STEP_COMMIT nothing stays behind. */
void output_abandon(struct output *output);

struct command {
	pid_t pid;	     /* 0: none. The owner waits for it. */
	struct channel hold; /* its end ends one that was not let run */
	int status;	     /* 0 until it was reaped */
};

/* argv: of a longer one, behind `--`. keyhole-output gets that and what is before it as well. */
int command_start(struct command *ret_command, char **argv, const struct policy_user *user);

/* Lets it run. Where it cannot, it says why and ends with status 127. */
void command_release(struct command *command);

/* Takes the exit status of one that has ended, as shells put it: 128 + the signal that ended it. */
void command_reap(struct command *command);

#endif

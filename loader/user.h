/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes with the invoking user's rights: keyhole-output and the command of `record -- CMD`.
 * keyhole-output makes the output file and shows the counts. Both start before the loader changes
 * its umask, limits, signals and rights, which both inherit.
 */
#ifndef KEYHOLE_LOADER_USER_H
#define KEYHOLE_LOADER_USER_H

#include <stdbool.h>
#include <sys/types.h>

#include "ipc/channel.h"
#include "policy/policy.h"

struct output {
	int fd;	     /* output file for the exporter; write only, owned */
	int manager; /* socket of the service manager, or -1; open until the end */
	pid_t pid;
	struct channel channel;
};

/*
 * Starts keyhole-output. verb: OUTPUT_VERB_*; path: "-" is standard output; debug_dirs: as in the
 * options. Returns 0 or a negative errno. A negative ret_output->pid means that the start failed,
 * which was logged. Otherwise -EPIPE: keyhole-output ended; -ETIMEDOUT: keyhole-output did not
 * answer within 10 s; -EPROTO: a violation of the protocol. Any other error is one of
 * output_file_open() (helper/output/file.h), and keyhole-output has printed the reason.
 */
int output_start(struct output *ret_output, const char *verb, const char *path,
		 const char *debug_dirs, const struct policy_user *user);

/* Tells the service manager a state, see sd_notify(3). Never waits: a full socket loses states. */
void output_notify(const struct output *output, const char *state);

/* Ends keyhole-output, and waits for the end. Without STEP_COMMIT no file stays behind. */
void output_abandon(struct output *output);

struct command {
	pid_t pid;	     /* 0: no command, or reaped */
	struct channel hold; /* ends a command that was never released when it closes */
	int status;	     /* exit status; 0 until the command was reaped */
};

/*
 * Starts keyhole-output as the process that later runs the command. argv: the part of keyhole's
 * arguments behind `--`; the two arguments before argv are passed on as well. Returns 0 or a
 * negative errno, which was logged.
 */
int command_start(struct command *ret_command, char **argv, const struct policy_user *user);

/* Lets the command run. A command that cannot run says why and ends with status 127. */
void command_release(struct command *command);

/* Takes the exit status of a command that ended, as shells show it: 128 + signal after a signal. */
void command_reap(struct command *command);

#endif

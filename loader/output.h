/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output file. Its name belongs to a process with the invoking user's rights, the committer,
 * which makes the finished file appear under it at once and whole, or not at all.
 */
#ifndef KEYHOLE_LOADER_OUTPUT_H
#define KEYHOLE_LOADER_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

#include "ipc/channel.h"
#include "policy/policy.h"

struct output {
	int fd;	   /* for the exporter; write only, owned */
	pid_t pid; /* committer, 0 for standard output */
	struct channel channel;
};

/*
 * Before the loader gives up its privilege. "-" is standard output, with nothing to commit; force
 * replaces a file of that name. 0, or why the file cannot be written: -EEXIST (without force),
 * -EACCES, -ENOENT (no such directory), -EISDIR, -EINVAL (neither file nor link), ...
 */
int output_start(struct output *ret_output, const char *path, bool force,
		 const struct policy_user *user);

/* After the exporter has written and synced it. */
int output_commit(struct output *output);

/* Always, at the end: without output_commit() nothing stays behind. */
void output_abandon(struct output *output);

#endif

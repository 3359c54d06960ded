/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output that the loader gave the exporter: a file, a pipe, a socket or a terminal. Profiles
 * come as memfds of a sealed size, so that nobody cuts one after its size was checked. A terminal
 * gets printable text alone, as the worker may send it anything.
 */
#ifndef KEYHOLE_EXPORTER_OUTPUT_H
#define KEYHOLE_EXPORTER_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/channel.h"

#ifndef PROFILE_BYTES
#define PROFILE_BYTES (1ull << 30) /* of one profile, and of all in one regular file, at most */
#endif

struct output {
	struct channel keeper; /* keyhole-output, which makes a file of each profile; fd -1: none */
	int fd;
	bool is_terminal; /* or another character device */
	uint64_t bytes;	  /* written so far */
	bool torn;	  /* the output may end in the middle of a profile */
};

/* Takes over the descriptor. */
void output_begin(struct output *ret_output, int fd);
/* Takes over the channel to keyhole-output. From now on each profile gets a file of its own. */
void output_keep_by(struct output *output, int channel);
/*
 * Appends a profile of so many bytes, or nothing for a later window of 0 bytes. Returns 0 or a
 * negative errno. Four errors write nothing: -EPERM (a seal is missing), -EBADMSG (too small),
 * -EFBIG (too large) and -ENODATA (no bytes). Any other errno is that of a failed write, and sets
 * torn. A profile that got no file is none of these: keyhole-output has said why.
 */
int output_append(struct output *output, int profile, uint64_t bytes);
/* Returns 0 or a negative errno. A pipe or a terminal has nothing to sync: 0. */
int output_sync(const struct output *output);
/* Returns whether the reader has closed a pipe, or the other end a socket or a terminal. */
bool output_is_closed(const struct output *output);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The process that has the profile: reads it, asks about each object, and writes it again. */
#ifndef KEYHOLE_VIEW_SYMBOLIZE_MODEL_H
#define KEYHOLE_VIEW_SYMBOLIZE_MODEL_H

#include "ipc/channel.h"

struct model_files {
	const char *name; /* of the input, for messages */
	int input, output;
};

/* The process that opens files and has them read, and that gets questions (ipc/PROTOCOL, LINES). */
struct model_peer {
	struct channel channel;
	int addresses; /* memfd of the current question */
	int answer;    /* memfd of the last answer */
};

/* Confines the process, then handles the profile. Returns an exit status, and logs errors. */
int model_run(const struct model_files *files, struct model_peer *peer);

#endif

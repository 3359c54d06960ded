/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts keyhole-debug, the process that opens files of debug information for one worker and has
 * them read (object/debug/service.h). Only the worker waits for it, also where a file is on a
 * network that does not answer.
 */
#ifndef KEYHOLE_HELPER_OUTPUT_DEBUG_H
#define KEYHOLE_HELPER_OUTPUT_DEBUG_H

#include "object/debug/folders.h"

struct debug {
	struct debug_folders folders;
	int program; /* O_PATH: keyhole-debug-reader; a negative errno: there is none */
};

/*
 * Opens the folders of a list that colons separate; NULL: the default. Logs a given folder that
 * cannot be opened. Relative paths need the working directory of the start.
 */
void debug_open(struct debug *debug, const char *list);

/* Starts a keyhole-debug for the worker at the other end of `peer`, which it takes. The process
 * ends with the worker, and has the folders, the program and nothing else that is open here. */
void debug_start(const struct debug *debug, int peer);

#endif

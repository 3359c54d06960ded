/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts keyhole-debug, the process that opens files of debug information for one worker and has
 * them read (object/debug/service.h). Only the worker waits for keyhole-debug, even when a file is
 * on a network that does not answer.
 */
#ifndef KEYHOLE_HELPER_OUTPUT_DEBUG_H
#define KEYHOLE_HELPER_OUTPUT_DEBUG_H

#include "object/debug/folders.h"

struct debug {
	struct debug_folders folders;
	int program; /* keyhole-debug-reader, O_PATH; a negative errno: there is no such program */
};

/*
 * Opens the folders of a list that colons separate; NULL: the default. Logs each folder of the list
 * that cannot be opened. Must run in the initial working directory, for relative paths.
 */
void debug_open(struct debug *debug, const char *list);

/*
 * Starts a keyhole-debug for the worker at the other end of `peer`, and takes `peer`. The new
 * process ends with the worker, and keeps only some descriptors: the folders, the program, `peer`
 * and 0 to 2.
 */
void debug_start(const struct debug *debug, int peer);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a step that failed: one line on standard error and the exit status. */
#ifndef KEYHOLE_LOADER_FAILED_H
#define KEYHOLE_LOADER_FAILED_H

#include <string.h>

#include "ipc/exit_status.h"
#include "ipc/log.h"

/* Says what failed, with the text of the negative errno r. Returns EXIT_FAILED. */
static inline enum exit_status failed(const char *what, const char *object, int r)
{
	log_error("%s: %s: %s", what, object, strerror(-r));
	return EXIT_FAILED;
}

#endif

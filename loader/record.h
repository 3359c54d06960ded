/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KEYHOLE_LOADER_RECORD_H
#define KEYHOLE_LOADER_RECORD_H

#include <stdint.h>

#include "loader/options.h"

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_RIGHTS = 3,
	EXIT_EMPTY = 4,
	EXIT_NO_COMMAND = 127,
	EXIT_SIGNAL = 128, /* + signal that ended CMD */
};

/* `keyhole record`, from the checks to the summary; begun: when the process started. */
int record_run(const struct options *options, uint64_t begun);

#endif

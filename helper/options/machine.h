/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the options with the machine before anything is started. A refusal is one line with the
 * command that mends it. The checks take no rights; the loader refuses what this process may not
 * look at, and names the system call that failed.
 */
#ifndef KEYHOLE_HELPER_OPTIONS_MACHINE_H
#define KEYHOLE_HELPER_OPTIONS_MACHINE_H

#include "ipc/messages.h"

/*
 * The options have the status OPTIONS_RECORD and were read from argv; the loader is our parent.
 * Returns OPTIONS_RECORD, EXIT_RIGHTS or EXIT_USAGE.
 */
int machine_check(const struct message_options *options, char **argv);

#endif

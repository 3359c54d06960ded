/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the machine says to what was asked for, before anything is started. Each refusal is one line
 * with the command that mends it. It takes no right to see; what this process may not look at is
 * left to the loader, whose own refusals name the system call that failed.
 */
#ifndef KEYHOLE_HELPER_OPTIONS_MACHINE_H
#define KEYHOLE_HELPER_OPTIONS_MACHINE_H

#include "ipc/messages.h"

/* options say OPTIONS_RECORD, argv is what they were read from, the loader is our parent. Returns
 * OPTIONS_RECORD, EXIT_RIGHTS or EXIT_USAGE. */
int machine_check(const struct message_options *options, char **argv);

#endif

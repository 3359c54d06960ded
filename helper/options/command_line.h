/* SPDX-License-Identifier: Apache-2.0 */
/* keyhole's command line, checked as far as it can be without asking the system. */
#ifndef KEYHOLE_HELPER_OPTIONS_COMMAND_LINE_H
#define KEYHOLE_HELPER_OPTIONS_COMMAND_LINE_H

#include <stdio.h>

#include "ipc/messages.h"

/*
 * argv as keyhole got it. Help and version go to `out`, a refusal as one line to the log; then
 * ret_options->status is an exit status and no other field means anything.
 */
void command_line_read(int argc, char **argv, FILE *out, struct message_options *ret_options);

#endif

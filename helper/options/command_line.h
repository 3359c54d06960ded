/* SPDX-License-Identifier: Apache-2.0 */
/* Reads keyhole's command line, and checks it as far as that is possible without the system. */
#ifndef KEYHOLE_HELPER_OPTIONS_COMMAND_LINE_H
#define KEYHOLE_HELPER_OPTIONS_COMMAND_LINE_H

#include <stdio.h>

#include "ipc/channel.h"

/*
 * Reads the argv that keyhole was given. Writes help and version to `out`, and a refusal as one
 * line to the log. In these cases ret_options->status is an exit status, and no other field has a
 * meaning. The loader opens files for the agent's options; NULL: nobody does, and nobody gets the
 * destination of the profiles.
 */
void command_line_read(int argc, char **argv, FILE *out, struct channel *loader,
		       struct message_options *ret_options);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, environment and configuration file of `keyhole agent`. */
#ifndef KEYHOLE_HELPER_OPTIONS_AGENT_H
#define KEYHOLE_HELPER_OPTIONS_AGENT_H

#include <stdio.h>

#include "ipc/channel.h"
#include "ipc/messages.h"

/*
 * argv[0] is the verb. Writes help to `out`. Sends the destination to the loader. Returns as
 * record_read() does: also OPTIONS_CHECK when all that was asked for is a check.
 */
int agent_read(int argc, char **argv, FILE *out, struct channel *loader,
	       struct message_options *ret_options);

#endif

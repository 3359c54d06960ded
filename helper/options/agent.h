/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, environment and configuration file of `keyhole agent`. */
#ifndef KEYHOLE_HELPER_OPTIONS_AGENT_H
#define KEYHOLE_HELPER_OPTIONS_AGENT_H

#include "ipc/channel.h"
#include "ipc/messages.h"

/*
 * argv[0] is the verb. Sends the destination to the loader. Returns as record_read() does.
 */
int agent_read(int argc, char **argv, struct channel *loader, struct message_options *ret_options);

#endif

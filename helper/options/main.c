/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-options: reads the command line in the loader's place, which has all rights then. Its
 * argv is the loader's; it has the loader's later uid and no rights, says what help, version and
 * refusals say, and what the machine lacks, and answers with numbers and with places in argv.
 */
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "helper/options/command_line.h"
#include "helper/options/machine.h"
#include "ipc/channel.h"
#include "ipc/log.h"

int main(int argc, char **argv)
{
	struct message_options options;
	struct channel loader;

	if (close_range(CHANNEL_FD + 1, ~0u, 0))
		return 1;
	prctl(PR_SET_NAME, message_party_name(PARTY_OPTIONS));
	prctl(PR_SET_DUMPABLE, 0);
	log_init("keyhole", LOG_LEVEL_WARNING);
	channel_init(&loader, CHANNEL_FD, PARTY_OPTIONS, PARTY_LOADER);
	command_line_read(argc, argv, stdout, &options);
	if (options.status == OPTIONS_RECORD)
		options.status = machine_check(&options, argv);
	return channel_send(&loader, MESSAGE_OPTIONS, &options, sizeof(options), -1) != 0;
}

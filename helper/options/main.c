/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-options reads the command line for the loader, which has all rights then. The argv of
 * keyhole-options is the loader's; its uid is the one that the loader has later, and it has no
 * rights. keyhole-options prints help, version, refusals and what the machine lacks, and answers
 * the loader with numbers and with places in argv.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "helper/options/command_line.h"
#include "helper/options/machine.h"
#include "ipc/channel.h"
#include "ipc/log.h"

#define CPU_SECONDS_MAX 2

/*
 * Ends the process when it computes too long: a regular expression can take minutes. The worker
 * compiles the expression again, in the same time.
 */
static void limit_ourselves(void)
{
	const struct rlimit seconds = {CPU_SECONDS_MAX, CPU_SECONDS_MAX};

	setrlimit(RLIMIT_CPU, &seconds);
}

int main(int argc, char **argv)
{
	struct message_options options;
	struct channel loader;

	if (close_range(CHANNEL_FD + 1, ~0u, 0))
		return 1;
	prctl(PR_SET_NAME, message_party_name(PARTY_OPTIONS));
	prctl(PR_SET_DUMPABLE, 0);
	limit_ourselves();
	signal(SIGPIPE, SIG_IGN); /* the loader gets an answer, whoever reads the help */
	log_init("keyhole", LOG_LEVEL_WARNING);
	channel_init(&loader, CHANNEL_FD, PARTY_OPTIONS, PARTY_LOADER);
	command_line_read(argc, argv, stdout, &loader, &options);
	if (options.status == OPTIONS_RECORD)
		options.status = machine_check(&options, argv);
	return channel_send(&loader, MESSAGE_OPTIONS, &options, sizeof(options), -1) != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/options.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "ipc/log.h"
#include "loader/helper.h"

/* NULL with a 0 in *r: none was given. */
static const char *text_at(int argc, char **argv, struct message_text text, int *r)
{
	if (text.index == 0)
		return NULL;
	if (text.index < (uint32_t)argc && text.offset <= strlen(argv[text.index]))
		return argv[text.index] + text.offset;
	*r = -EPROTO;
	return NULL;
}

int options_check(int argc, char **argv, const struct message_options *message,
		  struct options *ret_options)
{
	int r = 0;

	if (message->command >= (uint32_t)argc || message->command == 1 ||
	    message->pid_count > OPTIONS_PIDS_MAX || message->frequency < 1 ||
	    message->frequency > OPTIONS_FREQUENCY_MAX ||
	    message->duration > OPTIONS_DURATION_MAX || message->format == FORMAT_NONE ||
	    message->format >= FORMAT_COUNT || !memchr(message->name, '\0', OPTIONS_NAME_BYTES))
		return -EPROTO;
	*ret_options = (struct options){
		.pid_count = message->pid_count,
		.cgroup = text_at(argc, argv, message->cgroup, &r),
		.command = message->command ? argv + message->command : NULL,
		.frequency = message->frequency,
		.duration = message->duration,
		.output = text_at(argc, argv, message->output, &r) ?: message->name,
		.audit = text_at(argc, argv, message->audit, &r),
		.arguments = (const char *const *)argv + 1,
		.format = (enum profile_format)message->format,
		.require = message->require,
		.force = message->flags & OPTIONS_FORCE,
		.by_thread = message->flags & OPTIONS_BY_THREAD,
		.verbose = message->flags & OPTIONS_VERBOSE,
	};
	memcpy(ret_options->pids, message->pids, sizeof(message->pids));
	if (!!ret_options->pid_count + !!ret_options->cgroup + !!ret_options->command > 1)
		r = -EPROTO;
	return r;
}

int options_read(int argc, char **argv, struct options *ret_options)
{
	static struct message message; /* as long as the options */
	struct channel channel;
	pid_t pid = helper_start(PARTY_OPTIONS, (const char *const *)argv, NULL, &channel);
	int r;

	if (pid < 0)
		return EXIT_FAILED;
	/* whoever reads its help may take their time */
	r = channel_expect(&channel, MESSAGE_OPTIONS, INT_MAX, &message);
	channel_release(&channel);
	kill(pid, SIGKILL); /* that was all */
	waitpid(pid, NULL, 0);
	if (r == 0 && message.OPTIONS.status != OPTIONS_RECORD)
		return message.OPTIONS.status & 0xff;
	r = r ? r : options_check(argc, argv, &message.OPTIONS, ret_options);
	if (r)
		log_error("start: %s: %s", message_party_name(PARTY_OPTIONS), strerror(-r));
	return r ? EXIT_FAILED : OPTIONS_RECORD;
}

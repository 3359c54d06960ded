/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/log.h"
#include "loader/helper.h"
#include "loader/spawner.h"

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

int options_check(int argc, char **argv, struct options *options)
{
	const struct message_options *given = &options->given;
	const bool command = given->command != 0;
	int r = 0;

	if (given->command >= (uint32_t)argc || given->command == 1 ||
	    given->pid_count > OPTIONS_PIDS_MAX ||
	    given->excluded_count > OPTIONS_PIDS_MAX - given->pid_count ||
	    given->sampling.frequency < 1 || given->sampling.frequency > OPTIONS_FREQUENCY_MAX ||
	    given->duration > OPTIONS_DURATION_MAX || given->format == FORMAT_NONE ||
	    given->flags & ~OPTIONS_FLAGS || given->every > OPTIONS_EVERY_MAX ||
	    given->format >= FORMAT_COUNT || !memchr(given->name, '\0', OPTIONS_NAME_BYTES) ||
	    !!given->pid_count + !!given->cgroup.index + command > 1)
		return -EPROTO;
	options->cgroup = text_at(argc, argv, given->cgroup, &r);
	options->policy = text_at(argc, argv, given->policy, &r);
	options->debug_dirs = text_at(argc, argv, given->debug_dirs, &r);
	options->audit = text_at(argc, argv, given->audit, &r);
	options->comm = text_at(argc, argv, given->comm, &r);
	options->output = text_at(argc, argv, given->output, &r) ?: given->name;
	options->command = command ? argv + given->command : NULL;
	options->arguments = (const char *const *)argv + 1;
	return r;
}

int options_read(int argc, char **argv, struct options *ret_options)
{
	struct message message;
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
	ret_options->given = message.OPTIONS;
	r = r ? r : options_check(argc, argv, ret_options);
	if (r)
		log_error("start: %s: %s", message_party_name(PARTY_OPTIONS), strerror(-r));
	return r ? EXIT_FAILED : OPTIONS_RECORD;
}

int options_exec_verb(char **argv)
{
	const char *program = NULL;
	int fd;

#define V(verb, name, help) program = strcmp(argv[0], #verb) ? program : (name);
#include "ipc/verbs.def"
#undef V
	if (!program)
		return EXIT_DONE;
	fd = spawner_open_program(program);
	if (fd >= 0)
		syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
	log_error("%s: %s: %s", argv[0], program, strerror(fd < 0 ? -fd : errno));
	return EXIT_FAILED;
}

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

#include "loader/failed.h"
#include "loader/helper.h"
#include "loader/spawner.h"

/* Returns NULL without an error in *r for a text that was not given. */
static const char *text_at(int argc, char **argv, struct message_text text, int *r)
{
	if (text.index == 0)
		return NULL;
	if (text.index < (uint32_t)argc && text.offset <= strlen(argv[text.index]))
		return argv[text.index] + text.offset;
	*r = -EPROTO;
	return NULL;
}

/* The ways to choose targets exclude each other. */
static bool has_one_choice(const struct message_options *given)
{
	int choices = 0;

	choices += given->pid_count != 0;
	choices += given->cgroup.index != 0;
	choices += given->command != 0;
	return choices <= 1;
}

static bool has_possible_chance(const struct message_chance *given)
{
	if (given->threshold == 0)
		return true;
	return given->threshold < 100 && given->interval >= 1 &&
	       given->interval <= CHANCE_INTERVAL_MAX;
}

/* Returns whether all numbers are in the bounds that the loader relies on. */
static bool is_possible(const struct message_options *given, uint32_t argc)
{
	const uint32_t frequency = given->sampling.frequency;

	if (given->command >= argc || given->command == 1)
		return false;
	if (given->pid_count > OPTIONS_PIDS_MAX)
		return false;
	if (given->excluded_count > OPTIONS_PIDS_MAX - given->pid_count)
		return false;
	if (frequency < 1 || frequency > OPTIONS_FREQUENCY_MAX)
		return false;
	if (given->duration > OPTIONS_DURATION_MAX)
		return false;
	if (given->off_cpu_min > OPTIONS_OFF_CPU_MAX)
		return false;
	if (given->format == FORMAT_NONE || given->format >= FORMAT_COUNT)
		return false;
	if (given->flags & ~OPTIONS_FLAGS || given->every > OPTIONS_EVERY_MAX)
		return false;
	if (given->top > ACCOUNTS_TOP_MAX)
		return false;
	if (!memchr(given->name, '\0', OPTIONS_NAME_BYTES))
		return false;
	if (!has_possible_chance(&given->chance))
		return false;
	return has_one_choice(given);
}

int options_check(int argc, char **argv, struct options *options)
{
	const struct message_options *given = &options->given;
	int r = 0;

	if (!is_possible(given, (uint32_t)argc))
		return -EPROTO;
	options->cgroup = text_at(argc, argv, given->cgroup, &r);
	options->policy = text_at(argc, argv, given->policy, &r);
	options->debug_dirs = text_at(argc, argv, given->debug_dirs, &r);
	options->audit = text_at(argc, argv, given->audit, &r);
	options->comm = text_at(argc, argv, given->comm, &r);
	options->output = text_at(argc, argv, given->output, &r);
	if (!options->output)
		options->output = given->name;
	options->command = NULL;
	if (given->command)
		options->command = argv + given->command;
	options->arguments = (const char *const *)argv + 1;
	return r;
}

/* Handles what keyhole-options asks for and sends, until OPTIONS has come. */
static int await_options(struct channel *channel, struct options *options,
			 struct message *ret_message)
{
	int r;

	for (;;) {
		/* the user may take their time to read the help */
		r = channel_wait(channel, INT_MAX, ret_message);
		if (r < 0)
			return r;
		if (ret_message->head.type == MESSAGE_OPTIONS)
			return 0;
		r = export_take(&options->export, channel, ret_message);
		message_release(ret_message);
		if (r < 0)
			return r;
	}
}

/* Returns whether both parts of an agent's destination have come, or none. */
static bool has_destination(const struct options *options)
{
	const int *parts = options->export.parts;
	const bool delivers = export_has_server(&options->export);

	if (!(options->given.flags & OPTIONS_AGENT) &&
	    (delivers || parts[DESTINATION_LISTENER] >= 0))
		return false;
	return (parts[DESTINATION_ADDRESS] >= 0) == delivers;
}

int options_read(int argc, char **argv, struct options *ret_options)
{
	struct message message;
	struct channel channel;
	pid_t pid = helper_start(PARTY_OPTIONS, (const char *const *)argv, NULL, &channel);
	int r;

	if (pid < 0)
		return EXIT_FAILED;
	export_init(&ret_options->export);
	r = await_options(&channel, ret_options, &message);
	channel_release(&channel);
	kill(pid, SIGKILL); /* keyhole-options has nothing more to do */
	waitpid(pid, NULL, 0);
	if (r)
		return failed("start", message_party_name(PARTY_OPTIONS), r);
	if (message.OPTIONS.status != OPTIONS_RECORD && message.OPTIONS.status != OPTIONS_CHECK)
		return message.OPTIONS.status & 0xff;
	ret_options->given = message.OPTIONS;
	r = options_check(argc, argv, ret_options);
	if (r == 0 && !has_destination(ret_options))
		r = -EPROTO;
	if (r)
		return failed("start", message_party_name(PARTY_OPTIONS), r);
	return message.OPTIONS.status;
}

const char *options_rules_verb(const struct options *options)
{
	if (options->comm)
		return RULES_VERB_COMM;
	return RULES_VERB_RECORD;
}

/* Returns the program that has the verb, or NULL. */
static const char *find_program(const char *verb)
{
	static const struct {
		const char *verb, *program;
	} rows[] = {
#define V(verb, name, help) {#verb, name},
#include "ipc/verbs.def"
#undef V
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(verb, rows[i].verb))
			return rows[i].program;
	return NULL;
}

int options_exec_verb(char **argv)
{
	const char *program = find_program(argv[0]);
	int fd;

	if (!program)
		return EXIT_DONE;
	fd = spawner_open_program(program);
	if (fd < 0)
		return failed(argv[0], program, fd);
	syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
	return failed(argv[0], program, -errno);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/user.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "ipc/guard.h"
#include "loader/helper.h"

#define START_MS 10000 /* the file systems of homes can be slow */

int output_start(struct output *ret_output, const char *verb, const char *path,
		 const char *debug_dirs, const struct policy_user *user)
{
	const char *const argv[] = {message_party_name(PARTY_COMMITTER), verb, path, debug_dirs,
				    NULL};
	struct message message;
	int r;

	*ret_output = (struct output){.fd = -1, .manager = -1};
	ret_output->pid = helper_start(PARTY_COMMITTER, argv, user, &ret_output->channel);
	if (ret_output->pid < 0)
		return ret_output->pid;
	r = channel_expect(&ret_output->channel, MESSAGE_NOTIFY, START_MS, &message);
	if (r)
		return r;
	ret_output->manager = message.fd;
	r = channel_expect(&ret_output->channel, MESSAGE_OUTPUT_FILE, START_MS, &message);
	if (r)
		return r;
	ret_output->fd = message.fd;
	return message.OUTPUT_FILE.error;
}

void output_notify(const struct output *output, const char *state)
{
	struct iovec line = {(void *)(uintptr_t)state, strlen(state)};
	const struct msghdr message = {.msg_iov = &line, .msg_iovlen = 1};

	/* keyhole-output has the socket, too, and may have made it a blocking one */
	sendmsg(output->manager, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void output_abandon(struct output *output)
{
	close_fd(&output->fd);
	channel_release(&output->channel);
	if (output->pid > 0)
		waitpid(output->pid, NULL, 0);
}

int command_start(struct command *ret_command, char **argv, const struct policy_user *user)
{
	const char *const *own = (const char *const *)argv - 2;

	ret_command->pid = helper_start(PARTY_COMMITTER, own, user, &ret_command->hold);
	if (ret_command->pid < 0)
		return ret_command->pid;
	return 0;
}

void command_release(struct command *command)
{
	/* An error means that the command's process ended, which command_reap() notices. */
	channel_send_bare(&command->hold, MESSAGE_RELEASE, -1);
	channel_release(&command->hold);
}

void command_reap(struct command *command)
{
	int status;

	if (command->pid <= 0 || waitpid(command->pid, &status, WNOHANG) != command->pid)
		return;
	command->pid = 0;
	if (WIFSIGNALED(status))
		command->status = 128 + WTERMSIG(status);
	else
		command->status = WEXITSTATUS(status);
}

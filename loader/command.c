/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/guard.h"

#define SOCKET_FD 3
#define EXEC_MS	  10000 /* a file system that does not answer */

/* Never returns: exec, or an errno for the loader. Nothing of the loader stays open. */
static void hold_and_exec(int socket, char **argv, const struct identity *identity)
{
	ssize_t written;
	char byte;
	int r;

	if (socket != SOCKET_FD && dup3(socket, SOCKET_FD, O_CLOEXEC) < 0)
		_exit(127);
	close_range(SOCKET_FD + 1, ~0u, 0);
	r = identity_become(identity);
	if (read(SOCKET_FD, &byte, 1) != 1)
		_exit(127);
	if (r == 0) {
		execvp(argv[0], argv);
		r = -errno;
	}
	written = write(SOCKET_FD, &r, sizeof(r));
	_exit(written == sizeof(r) ? 127 : 126);
}

int command_start(struct command *ret_command, char **argv, const struct identity *identity)
{
	int ends[2];
	pid_t pid;
	int r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (pid == 0)
		hold_and_exec(ends[1], argv, identity);
	r = pid < 0 ? -errno : 0;
	close(ends[1]);
	if (r)
		close(ends[0]);
	else
		*ret_command = (struct command){.pid = pid, .socket = ends[0]};
	return r;
}

static void close_socket(struct command *command)
{
	guard_fd_(&command->socket);
	command->socket = -1;
}

int command_release(struct command *command)
{
	struct pollfd poll_fd = {.fd = command->socket, .events = POLLIN};
	int r = 0;

	if (write(command->socket, "", 1) != 1)
		r = -errno;
	else if (poll(&poll_fd, 1, EXEC_MS) != 1)
		r = -ETIMEDOUT;
	else if (read(command->socket, &r, sizeof(r)) < 0)
		r = -errno;
	close_socket(command);
	if (r && r != -ETIMEDOUT) {
		waitpid(command->pid, NULL, 0);
		command->pid = 0;
	}
	return r;
}

void command_abandon(struct command *command)
{
	if (command->pid <= 0 || command->socket < 0)
		return;
	close_socket(command);
	waitpid(command->pid, NULL, 0);
	command->pid = 0;
}

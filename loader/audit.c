/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "loader/helper.h"

static struct {
	struct channel channel;
	pid_t pid; /* 0: no stream */
} audit = {.channel.fd = -1};

static int open_file(const char *path)
{
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	guard_fd int fd = open(path, flags | O_CLOEXEC, 0600);
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_mode & 077 || status.st_nlink != 1 ||
	    status.st_uid != geteuid())
		return -EPERM;
	return take_fd(&fd);
}

int audit_open(const char *path, const char *const *arguments)
{
	guard_fd int fd = open_file(path);

	if (fd < 0)
		return fd;
	/* the arguments of keyhole are the helper's too: so they are whole, however long */
	audit.pid = helper_start(PARTY_AUDITOR, arguments, NULL, &audit.channel);
	if (audit.pid < 0)
		return audit.pid;
	return channel_send_bare(&audit.channel, MESSAGE_AUDIT_FILE, fd);
}

void audit_write(enum audit_event event, const char *format, ...)
{
	struct message_audit_event message = {.event = event};
	va_list fields;

	if (audit.pid <= 0)
		return;
	va_start(fields, format);
	vsnprintf(message.fields, sizeof(message.fields), format, fields);
	va_end(fields);
	if (channel_send(&audit.channel, MESSAGE_AUDIT_EVENT, &message, sizeof(message), -1))
		channel_release(&audit.channel);
}

int audit_connect(struct channel *broker)
{
	return audit.pid <= 0 ? 0
			      : channel_join(&audit.channel, MESSAGE_AUDIT_BROKER, NULL, 0, broker,
					     MESSAGE_AUDIT_PEER);
}

bool audit_lost(void)
{
	struct message message;

	/* it has nothing to say: what there is to read is its end */
	return audit.pid > 0 && channel_receive(&audit.channel, &message);
}

void audit_end(int status)
{
	int ended;

	audit_write(AUDIT_end, "%d", status);
	channel_release(&audit.channel);
	if (audit.pid > 0 && waitpid(audit.pid, &ended, 0) == audit.pid && ended == 0)
		audit.pid = 0;
}

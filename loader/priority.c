/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/priority.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ipc/guard.h"

#define PRIORITY_START	(-20)
#define AUTOGROUP	"/proc/self/autogroup"
#define AUTOGROUP_BYTES 64

static struct {
	int own, session; /* before the start */
	bool own_raised, session_raised;
} priority;

void priority_raise(void)
{
	priority.own = getpriority(PRIO_PROCESS, 0);
	priority.own_raised = setpriority(PRIO_PROCESS, 0, PRIORITY_START) == 0;
}

void priority_restore(void)
{
	if (priority.own_raised)
		setpriority(PRIO_PROCESS, 0, priority.own);
}

/* Reads "/autogroup-12 nice 0". Returns false where sessions are no groups. */
static bool read_session(int *ret_value)
{
	guard_fd int fd = open(AUTOGROUP, O_RDONLY | O_CLOEXEC);
	char text[AUTOGROUP_BYTES] = "";

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return false;
	return sscanf(text, "/autogroup-%*d nice %d", ret_value) == 1;
}

static bool write_session(int value)
{
	guard_fd int fd = open(AUTOGROUP, O_WRONLY | O_CLOEXEC);
	char text[16];
	int length = snprintf(text, sizeof(text), "%d", value);

	return fd >= 0 && write(fd, text, (size_t)length) == length;
}

void priority_raise_session(void)
{
	if (!read_session(&priority.session))
		return;
	priority.session_raised = write_session(PRIORITY_START);
}

void priority_settle(void)
{
	if (priority.session_raised)
		write_session(PRIORITY_WORKER);
	priority.session_raised = false;
	priority_restore();
}

void priority_abandon(void)
{
	if (priority.session_raised)
		write_session(priority.session);
	priority.session_raised = false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/output/debug_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/log.h"

#define SUFFIX ".debug"
#define NAME   "keyhole-debug" /* as ps shows it */
#define KEPT   100	       /* descriptors of keyhole-output are far below */

/* Before the working directory changes: they may be relative. */
void debug_folders_open(struct debug_folders *folders, const char *list)
{
	const char *at = list ? list : DEBUG_FOLDERS_DEFAULT;

	while (*at && folders->count < DEBUG_FOLDERS_MAX) {
		size_t length = strcspn(at, ":");
		guard_free char *path = strndup(at, length);
		int fd = path && length ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

		if (fd >= 0)
			folders->fd[folders->count++] = fd;
		else if (list && length)
			log_warning("debug-dir: %.*s: %s", (int)length, at, strerror(errno));
		at += length + (at[length] == ':');
	}
}

static bool path_is_fine(const struct message_debug_file *request)
{
	size_t length = strnlen(request->path, sizeof(request->path));

	return length < sizeof(request->path) && length > strlen(SUFFIX) &&
	       strcmp(request->path + length - strlen(SUFFIX), SUFFIX) == 0;
}

static int open_below(int folder, const char *path)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	guard_fd int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		return -errno;
	return S_ISREG(status.st_mode) ? take_fd(&fd) : -EACCES;
}

int debug_folders_find(const struct debug_folders *folders,
		       const struct message_debug_file *request)
{
	int r = -ENOENT;

	if (!path_is_fine(request))
		return -EINVAL;
	for (size_t i = 0; i < folders->count && r < 0; i++)
		r = open_below(folders->fd[i], request->path);
	return r;
}

static int answer(const struct debug_folders *folders, struct channel *worker,
		  const struct message *request)
{
	guard_fd int fd = debug_folders_find(folders, &request->DEBUG_FILE);
	const struct message_reply reply = {.error = fd < 0 ? fd : 0};

	return channel_reply(worker, request, MESSAGE_DEBUG_FILE_REPLY, &reply, sizeof(reply), fd);
}

/* Root keeps none of its rights here, but what its files allow their owner. */
static int drop_rights(void)
{
	cap_t none = cap_init();
	int r = none && cap_set_proc(none) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
			? 0
			: -errno;

	cap_free(none);
	return r;
}

static int serve(const struct debug_folders *folders, int peer)
{
	struct message message;
	struct channel worker;
	int r = drop_rights();

	channel_init(&worker, peer, PARTY_COMMITTER, PARTY_WORKER);
	worker.phase = PHASE_RUN;
	while (r == 0) {
		r = channel_wait(&worker, INT_MAX, &message);
		r = r == 1 ? answer(folders, &worker, &message) : r == -ETIMEDOUT ? 0 : r;
	}
	return r;
}

/* What else there is stays with keyhole-output: they are moved to where nothing is, in order. */
static int keep_only(struct debug_folders *folders, int *peer)
{
	*peer = fcntl(*peer, F_DUPFD_CLOEXEC, KEPT);
	for (size_t i = 0; i < folders->count; i++)
		folders->fd[i] = fcntl(folders->fd[i], F_DUPFD_CLOEXEC, KEPT);
	return *peer < 0 || close_range(STDERR_FILENO + 1, KEPT - 1, 0);
}

void debug_files_serve(const struct debug_folders *folders, int peer)
{
	struct debug_folders own = *folders;
	pid_t parent = getpid(), pid;

	signal(SIGCHLD, SIG_IGN); /* nobody waits for them */
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, NAME);
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent ||
		    keep_only(&own, &peer))
			_exit(1);
		serve(&own, peer);
		_exit(0);
	}
	if (pid < 0)
		log_warning("debug-dir: %s", strerror(errno));
	close(peer);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/output/debug_files.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "helper/output/dwarf.h"
#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/log.h"

#define SUFFIX	 ".debug"
#define BUILD_ID ".build-id/"
#define NAME	 "keyhole-debug" /* as ps shows it */
#define KEPT	 100		 /* descriptors of keyhole-output are far below */

/* Beside our own. Whoever replaces it from now on does not change what runs. */
static int open_program(void)
{
	char own[PATH_MAX] = "";
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	guard_fd int folder =
		length > 0 ? open(dirname(own), O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	return folder < 0 ? -1 : openat(folder, CHILD_PROGRAM, O_PATH | O_CLOEXEC);
}

/* Before the working directory changes: they may be relative. */
void debug_folders_open(struct debug_folders *folders, const char *list)
{
	const char *at = list ? list : DEBUG_FOLDERS_DEFAULT;

	folders->program = open_program();
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

int debug_folders_find_path(const struct debug_folders *folders, const char *path)
{
	struct message_debug_file request = {0};
	size_t length = strlen(path);

	if (length >= sizeof(request.path))
		return -ENAMETOOLONG;
	memcpy(request.path, path, length);
	return debug_folders_find(folders, &request);
}

int debug_folders_find_id(const struct debug_folders *folders, const unsigned char *id, size_t size)
{
	char path[256] = BUILD_ID;
	size_t used = strlen(path);

	if (size < 2 || size > (sizeof(path) - sizeof(BUILD_ID "/" SUFFIX)) / 2)
		return -EINVAL;
	for (size_t i = 0; i < size; i++)
		used += (size_t)snprintf(path + used, sizeof(path) - used,
					 i == 0 ? "%02x/" : "%02x", id[i]);
	memcpy(path + used, SUFFIX, sizeof(SUFFIX));
	return debug_folders_find_path(folders, path);
}

static int reply(struct channel *worker, const struct message *request, int fd)
{
	const struct message_reply said = {.error = fd < 0 ? fd : 0};
	int r = channel_reply(worker, request, &said, sizeof(said), fd);

	close_fd(&fd);
	return r;
}

static int read_lines(const struct debug_folders *folders, struct dwarf *dwarf,
		      struct message *request)
{
	static bool told; /* no object has lines then: once is enough */
	int r = dwarf_answer(dwarf, folders, &request->LINES, take_fd(&request->fd));
	const char *problem = folders->program < 0 ? strerror(ENOENT)
			      : r == -EPROTO	   ? "of another version"
						   : NULL;

	if (problem && !told)
		log_error("lines: " CHILD_PROGRAM ": %s, no lines are added; install all programs "
			  "together",
			  problem);
	told |= problem != NULL;
	return r;
}

static int answer(const struct debug_folders *folders, struct dwarf *dwarf, struct channel *worker,
		  struct message *request)
{
	switch (request->head.type) {
	case MESSAGE_DEBUG_FILE:
		return reply(worker, request, debug_folders_find(folders, &request->DEBUG_FILE));
	case MESSAGE_LINES_FILE:
		return dwarf_add_file(dwarf, take_fd(&request->fd));
	case MESSAGE_LINES:
		return reply(worker, request, read_lines(folders, dwarf, request));
	default:
		return -EPROTO;
	}
}

/* Root keeps none of its rights here, but what its files allow their owner. Nobody traces it. */
static int drop_rights(void)
{
	cap_t none = cap_init();
	int r = none && cap_set_proc(none) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
				prctl(PR_SET_DUMPABLE, 0) == 0
			? 0
			: -errno;

	cap_free(none);
	return r;
}

static int serve(const struct debug_folders *folders, int peer)
{
	struct dwarf dwarf = {.count = 0};
	struct message message;
	struct channel worker;
	int r = drop_rights();

	signal(SIGCHLD, SIG_DFL); /* it waits for its own */
	channel_init(&worker, peer, PARTY_COMMITTER, PARTY_WORKER);
	worker.phase = PHASE_RUN;
	while (r == 0) {
		r = channel_wait(&worker, INT_MAX, &message);
		r = r == 1 ? answer(folders, &dwarf, &worker, &message) : r == -ETIMEDOUT ? 0 : r;
	}
	return r;
}

/* What else there is stays with keyhole-output: they are moved to where nothing is, in order. */
static int keep_only(struct debug_folders *folders, int *peer)
{
	*peer = fcntl(*peer, F_DUPFD_CLOEXEC, KEPT);
	for (size_t i = 0; i < folders->count; i++)
		folders->fd[i] = fcntl(folders->fd[i], F_DUPFD_CLOEXEC, KEPT);
	if (folders->program >= 0)
		folders->program = fcntl(folders->program, F_DUPFD_CLOEXEC, KEPT);
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

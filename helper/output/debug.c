/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/output/debug.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "object/debug/service.h"

#define KEPT 100 /* descriptors of keyhole-output are far below */

/* Folders beyond DEBUG_FOLDERS_MAX are left out. */
void debug_open(struct debug *debug, const char *list)
{
	const char *at = list ? list : DEBUG_FOLDERS_DEFAULT;

	debug->program = reader_open_program();
	while (*at && debug->folders.count < DEBUG_FOLDERS_MAX) {
		size_t length = strcspn(at, ":");
		guard_free char *path = strndup(at, length);
		int r = 0;

		if (path && length)
			r = debug_folders_add(&debug->folders, path);
		if (r < 0 && list)
			log_warning("debug-dir: %s: %s", path, strerror(-r));
		at += length + (at[length] == ':');
	}
}

/* Drops all capabilities: a root process keeps only an owner's access. Also forbids tracing. */
static int drop_rights(void)
{
	cap_t none = cap_init();
	int r = 0;

	if (!none || cap_set_proc(none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_DUMPABLE, 0))
		r = -errno;
	cap_free(none);
	return r;
}

static void serve(const struct debug *debug, int peer)
{
	struct debug_service service;
	struct channel worker;

	if (drop_rights() < 0)
		return;
	signal(SIGCHLD, SIG_DFL); /* keyhole-debug waits for its own children */
	channel_init(&worker, peer, PARTY_DEBUG, PARTY_WORKER);
	worker.phase = PHASE_RUN;
	debug_service_init(&service, READER_RECORDING, &debug->folders, debug->program);
	debug_service_run(&service, &worker);
}

/* Moves the descriptors that the process needs to KEPT and above, and closes those below. */
static int keep_only(struct debug *debug, int *peer)
{
	struct debug_folders *folders = &debug->folders;

	*peer = fcntl(*peer, F_DUPFD_CLOEXEC, KEPT);
	if (*peer < 0)
		return -errno;
	for (size_t i = 0; i < folders->count; i++)
		folders->fd[i] = fcntl(folders->fd[i], F_DUPFD_CLOEXEC, KEPT);
	if (debug->program >= 0)
		debug->program = fcntl(debug->program, F_DUPFD_CLOEXEC, KEPT);
	return close_range(STDERR_FILENO + 1, KEPT - 1, 0) ? -errno : 0;
}

void debug_start(const struct debug *debug, int peer)
{
	struct debug own = *debug;
	pid_t parent = getpid(), pid;

	signal(SIGCHLD, SIG_IGN); /* children are not waited for */
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, message_party_name(PARTY_DEBUG));
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "view/result.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/log.h"
#include "ipc/signals.h"

#define NAME_ANOTHER "name another one: -o FILE"

static const char *unfinished;

static void give_up(int number)
{
	unlink(unfinished);
	raise(number);
}

/* Replaces one handler by another. A signal that is ignored (nohup) stays ignored. */
static void replace_handler(void (*from)(int), void (*to)(int))
{
	struct sigaction action;
	sigset_t ends;

	signals_that_end(&ends);
	for (int number = 1; number <= SIGRTMAX; number++) {
		if (sigismember(&ends, number) != 1)
			continue;
		if (sigaction(number, NULL, &action) || action.sa_handler != from)
			continue;
		action = (struct sigaction){.sa_handler = to, .sa_flags = SA_RESETHAND};
		sigaction(number, &action, NULL);
	}
}

void result_disown(void)
{
	replace_handler(give_up, SIG_DFL);
}

static int refuse(const struct result *result, const char *path, const char *reason,
		  const char *advice)
{
	log_error("%s: %s: %s; %s", result->program, path, reason, advice);
	return -EINVAL;
}

int result_open(struct result *ret_result, const char *program, const char *path, bool force)
{
	struct result *result = ret_result;
	struct stat status;

	*result = (struct result){.program = program, .fd = STDOUT_FILENO, .force = force};
	if (!strcmp(path, "-"))
		return 0;
	if (strlen(path) >= sizeof(result->path))
		return refuse(result, path, strerror(ENAMETOOLONG), NAME_ANOTHER);
	memcpy(result->path, path, strlen(path) + 1);
	if (!lstat(path, &status) && !S_ISREG(status.st_mode))
		return refuse(result, path, "there is something that is not a file", NAME_ANOTHER);
	if (!lstat(path, &status) && !force)
		return refuse(result, path, "exists", "to replace it add: --force");
	snprintf(result->temporary, sizeof(result->temporary), "%s.XXXXXX", result->path);
	unfinished = result->temporary; /* no file has this name yet */
	replace_handler(SIG_DFL, give_up);
	result->fd = mkostemp(result->temporary, O_CLOEXEC); /* 0600 */
	if (result->fd >= 0)
		return 0;
	result->temporary[0] = '\0';
	return refuse(result, path, strerror(errno), NAME_ANOTHER);
}

static int give_name(const struct result *result)
{
	const unsigned int flags = result->force ? 0 : RENAME_NOREPLACE;

	if (!renameat2(AT_FDCWD, result->temporary, AT_FDCWD, result->path, flags))
		return 0;
	if (errno != EINVAL)
		return -errno;
	/* a file system that knows no flags knows links */
	if (link(result->temporary, result->path))
		return -errno;
	return 0;
}

int result_close(struct result *result, bool done)
{
	int r = 0;

	if (!result->temporary[0])
		return 0;
	if (done)
		r = give_name(result);
	if (r)
		log_error("%s: %s: %s", result->program, result->path, strerror(-r));
	if (unlink(result->temporary) && errno != ENOENT)
		log_warning("%s: %s: %s", result->program, result->temporary, strerror(errno));
	return r;
}

int result_await(const char *program, pid_t child, uint64_t seconds)
{
	int status;

	while (waitpid(child, &status, 0) < 0) {
		if (errno == EINTR)
			continue;
		log_error("%s: keyhole-%s: %s", program, program, strerror(errno));
		return EXIT_FAILURE;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (WTERMSIG(status) == SIGXCPU && seconds)
		log_error("%s: profile: not done in its CPU time, at most %" PRIu64 " s", program,
			  seconds);
	else
		log_error("%s: the process that reads the profile: %s", program,
			  strsignal(WTERMSIG(status)));
	return EXIT_FAILURE;
}

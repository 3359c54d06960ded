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

#include "base/output_name.h"
#include "ipc/log.h"
#include "ipc/signals.h"

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

static int refuse(const struct result *result, const char *path, const char *problem)
{
	log_error("%s: %s: %s", result->program, path, problem);
	return -EINVAL;
}

/* Refuses a path for a negative errno, with advice. */
static int refuse_errno(const struct result *result, const char *path, int r)
{
	char problem[OUTPUT_NAME_PROBLEM];

	snprintf(problem, sizeof(problem), "%s; " OUTPUT_NAME_ANOTHER, strerror(-r));
	return refuse(result, path, problem);
}

static int use_descriptor(struct result *result, const char *path, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return refuse(result, path, "not open for writing; " OUTPUT_NAME_ANOTHER);
	result->fd = fd;
	return 0;
}

static int open_fifo(struct result *result, const char *path)
{
	const char *problem;
	int fd = output_name_open_fifo(path, &problem);

	if (fd < 0)
		return refuse(result, path, problem);
	/* from here on a slow reader makes a write wait */
	if (fcntl(fd, F_SETFL, 0))
		return refuse_errno(result, path, -errno);
	result->fd = fd;
	return 0;
}

static int open_temporary(struct result *result, const char *path)
{
	char problem[OUTPUT_NAME_PROBLEM];

	if (strlen(path) >= sizeof(result->path))
		return refuse_errno(result, path, -ENAMETOOLONG);
	memcpy(result->path, path, strlen(path) + 1);
	snprintf(result->temporary, sizeof(result->temporary), "%s.XXXXXX", result->path);
	unfinished = result->temporary; /* no file has this name yet */
	replace_handler(SIG_DFL, give_up);
	result->fd = mkostemp(result->temporary, O_CLOEXEC); /* 0600 */
	if (result->fd >= 0)
		return 0;
	result->temporary[0] = '\0';
	if (errno != ENOENT)
		return refuse_errno(result, path, -errno);
	output_name_explain_folder(path, -ENOENT, problem);
	return refuse(result, path, problem);
}

int result_open(struct result *ret_result, const char *program, const char *path, bool force)
{
	struct result *result = ret_result;
	const int descriptor = output_name_descriptor(path);
	const char *problem;
	int r;

	*result = (struct result){.program = program, .fd = STDOUT_FILENO, .force = force};
	if (strcmp(path, "-") == 0)
		return 0;
	if (descriptor >= 0)
		return use_descriptor(result, path, descriptor);
	r = output_name_look(path, force, &problem);
	if (r < 0)
		return refuse(result, path, problem);
	if (r > 0)
		return open_fifo(result, path);
	return open_temporary(result, path);
}

int result_close(struct result *result, bool done)
{
	const char *problem;
	int r = 0;

	if (!result->temporary[0])
		return 0;
	if (done)
		r = output_name_give(result->temporary, result->path, result->force, &problem);
	if (r)
		log_error("%s: %s: %s", result->program, result->path, problem);
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
	if (WTERMSIG(status) == SIGPIPE) /* `| head` has seen enough */
		return EXIT_PIPE;
	if (WTERMSIG(status) == SIGXCPU && seconds)
		log_error("%s: profile: not done in its CPU time, at most %" PRIu64 " s", program,
			  seconds);
	else
		log_error("%s: the process that reads the profile: %s", program,
			  strsignal(WTERMSIG(status)));
	return EXIT_FAILURE;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/output/dwarf.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "generated/version.h"
#include "helper/output/debug_files.h"
#include "ipc/guard.h"
#include "ipc/messages.h"
#include "ipc/time.h"
#include "object/dwarf/answer.h"

/* Descriptors are moved there, so that none is in another's place; a user may have few. */
#define ABOVE 64

_Static_assert(CHILD_FILES + CHILD_FILES_MAX < ABOVE, "the program's descriptors are below");

/* One run of the program. */
struct run {
	const struct dwarf *dwarf;
	uint32_t addresses; /* how many */
	int fds[CHILD_FILES - CHILD_ADDRESSES + CHILD_FILES_MAX + 1];
	unsigned int fd_count;
	bool alternate;
	uint64_t deadline;
	pid_t parent;
};

/* ---- the child, until it is another program ---- */

static int place_descriptors(struct run *run)
{
	for (unsigned int i = 0; i < run->fd_count; i++) {
		run->fds[i] = fcntl(run->fds[i], F_DUPFD_CLOEXEC, ABOVE);
		if (run->fds[i] < 0)
			return -errno;
	}
	for (unsigned int i = 0; i < run->fd_count; i++)
		if (dup2(run->fds[i], CHILD_ADDRESSES + (int)i) < 0)
			return -errno;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		close(fd);
	/* above are ours alone, all close-on-exec (CLOSE_RANGE_CLOEXEC is of Linux 5.11) */
	return close_range(CHILD_ADDRESSES + run->fd_count, ABOVE - 1, 0) ? -errno : 0;
}

static __attribute__((noreturn)) void become_program(struct run *run, int program)
{
	const uint64_t now = time_now();
	const uint64_t left = run->deadline > now ? (run->deadline - now) / NS_PER_MS : 0;
	char count[16], files[16], alternates[16], milliseconds[24];
	const char *const argv[] = {CHILD_NAME, KEYHOLE_VERSION, count, files,
				    alternates, milliseconds,	 NULL};
	const char *const none[] = {NULL};
	int r;

	snprintf(count, sizeof(count), "%u", run->addresses);
	snprintf(files, sizeof(files), "%u", run->dwarf->count);
	snprintf(alternates, sizeof(alternates), "%d", run->alternate);
	snprintf(milliseconds, sizeof(milliseconds), "%llu", (unsigned long long)left);
	r = prctl(PR_SET_PDEATHSIG, SIGKILL) ? -errno : getppid() != run->parent ? -EPIPE : 0;
	program = fcntl(program, F_DUPFD_CLOEXEC, ABOVE);
	r = r ? r : program < 0 ? -errno : place_descriptors(run);
	if (r == 0)
		syscall(SYS_execveat, program, "", argv, none, AT_EMPTY_PATH);
	_exit(r ? -r : errno);
}

/* ---- the parent ---- */

/* Whatever it does, it has ended then. */
static int await(pid_t pid, uint64_t deadline)
{
	const uint64_t until = deadline + DWARF_SLACK_MS * NS_PER_MS, now = time_now();
	guard_fd int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd poller = {.fd = fd, .events = POLLIN};
	bool late =
		fd < 0 || poll(&poller, 1, until > now ? (int)((until - now) / NS_PER_MS) : 0) != 1;
	int status;

	if (late)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFSIGNALED(status))
		return late || WTERMSIG(status) == SIGXCPU ? -ETIME : -EBADMSG;
	return -WEXITSTATUS(status);
}

static int run_program(struct run *run, int program)
{
	const int answer = run->fds[CHILD_ANSWER - CHILD_ADDRESSES];
	pid_t pid;

	run->parent = getpid();
	if (ftruncate(answer, 0) || lseek(answer, 0, SEEK_SET))
		return -errno;
	pid = program < 0 ? -1 : fork();
	if (pid == 0)
		become_program(run, program);
	if (pid < 0)
		return program < 0 ? -ENOENT : -errno;
	return await(pid, run->deadline);
}

/* By its build id, else by its name below .dwz, which is what distributions have. */
static int open_alternate(const struct debug_folders *folders, const struct answer_summary *summary)
{
	const char *name = strstr(summary->alt_name, ".dwz/");
	int fd = debug_folders_find_id(folders, summary->alt_id, summary->alt_id_size);

	return fd < 0 && name ? debug_folders_find_path(folders, name) : fd;
}

static int new_answer(void)
{
	return memfd_create(CHILD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

/*
 * With the file that dwz moved parts to, if there is one and it is here: an answer in place of the
 * first. It has the time that the first one left, and more to read: only a complete one is better.
 */
static int run_again(struct run *run, const struct debug_folders *folders, int *answer)
{
	struct answer_summary summary;
	guard_fd int alternate = -1, again = -1;

	if (answer_peek(*answer, &summary) < 0)
		return -EBADMSG;
	if (summary.alt_id_size == 0)
		return 0;
	alternate = open_alternate(folders, &summary);
	again = alternate < 0 ? -1 : new_answer();
	if (again < 0)
		return 0;
	run->fds[CHILD_ANSWER - CHILD_ADDRESSES] = again;
	run->fds[run->fd_count++] = alternate;
	run->alternate = true;
	if (run_program(run, folders->program) == 0 && answer_is_complete(again)) {
		close_fd(answer);
		*answer = take_fd(&again);
	}
	return 0;
}

static int read_object(const struct dwarf *dwarf, const struct debug_folders *folders,
		       const struct message_lines *question, int addresses)
{
	guard_fd int answer = new_answer();
	struct run run = {
		.dwarf = dwarf,
		.addresses = question->count,
		.fds = {addresses, answer},
		.fd_count = CHILD_FILES - CHILD_ADDRESSES,
		.deadline = time_now() + question->milliseconds * NS_PER_MS,
	};
	int r;

	for (unsigned int i = 0; i < dwarf->count; i++)
		run.fds[run.fd_count++] = dwarf->files[i];
	r = answer < 0 ? -errno : run_program(&run, folders->program);
	r = r ? r : run_again(&run, folders, &answer);
	return r ? r : take_fd(&answer);
}

/*
 * By our own rights, so that who reads it has nothing that its user could not open. The mode alone
 * decides, not the folders on the way: the file may be of another root, or deleted.
 */
static int open_again(int fd)
{
	char path[32];
	struct stat status;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		return -EACCES;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -EACCES : fd;
}

int dwarf_add_file(struct dwarf *dwarf, int fd)
{
	guard_fd int given = fd;

	if (dwarf->count == CHILD_FILES_MAX)
		return -EPROTO;
	dwarf->files[dwarf->count++] = open_again(given);
	return 0;
}

static int check(const struct dwarf *dwarf, const struct message_lines *question, int addresses)
{
	for (unsigned int i = 0; i < dwarf->count; i++)
		if (dwarf->files[i] < 0)
			return dwarf->files[i];
	if (dwarf->count == 0 || question->count == 0 || question->count > CHILD_ADDRESSES_MAX ||
	    question->milliseconds > CHILD_MS_MAX)
		return -EINVAL;
	if (dwarf->asked >= DWARF_OBJECTS_MAX)
		return -E2BIG;
	if (addresses < 0)
		return addresses;
	return dwarf->spent + question->milliseconds * NS_PER_MS > DWARF_TIME_MAX_MS * NS_PER_MS
		       ? -ETIME
		       : 0;
}

int dwarf_answer(struct dwarf *dwarf, const struct debug_folders *folders,
		 const struct message_lines *question, int addresses)
{
	uint64_t began = time_now();
	guard_fd int given = addresses, opened = open_again(given);
	int r = check(dwarf, question, opened);

	dwarf->asked++;
	r = r ? r : read_object(dwarf, folders, question, opened);
	dwarf->spent += time_now() - began;
	while (dwarf->count > 0)
		close_fd(&dwarf->files[--dwarf->count]);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "object/debug/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "generated/version.h"
#include "ipc/guard.h"
#include "ipc/time.h"

/* Descriptors move above this one first, out of each other's way. A user's limit may be low. */
#define ABOVE 64

#define DESCRIPTORS_MAX (READER_FILES - READER_ADDRESSES + READER_FILES_MAX + 1)
#define WORD_BYTES	24

_Static_assert(READER_ADDRESSES + DESCRIPTORS_MAX < ABOVE, "the program's descriptors are below");

#ifndef PROFILE_ADDRESSES_MAX
#define PROFILE_ADDRESSES_MAX (4u << 20) /* of one object */
#endif

/* Measured memory was 10 to 60 MB, for programs with up to 16 MB of .debug_info. */
const struct reader_limits reader_limits[READER_PURPOSES] = {
	[READER_RECORDING] = {.files = 2,
			      .addresses = 1u << 17,
			      .milliseconds = 10000,
			      .slack = 100,
			      .more_cpu = 1,
			      .memory = 512u << 20,
			      .answer = 16u << 20,
			      .questions = 256,
			      .total = 5000},
	[READER_PROFILE] = {.files = READER_FILES_MAX,
			    .addresses = PROFILE_ADDRESSES_MAX,
			    .milliseconds = 20000,
			    .slack = 70000,
			    .more_cpu = 10,
			    .symbols = true,
			    .time_again = true},
};

int reader_open_program(void)
{
	char own[PATH_MAX] = "";
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	guard_fd int folder = -1;
	int fd;

	if (length <= 0)
		return -ENOENT;
	folder = open(dirname(own), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return -errno;
	fd = openat(folder, READER_PROGRAM, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* ---- the child, until it is another program ---- */

struct words {
	char purpose[WORD_BYTES], addresses[WORD_BYTES], files[WORD_BYTES], alternates[WORD_BYTES],
		milliseconds[WORD_BYTES], id[2 * READER_ID_MAX + 1];
};

static void print_words(const struct reader_job *job, struct words *words)
{
	const uint64_t now = time_now();
	uint64_t left = 0;

	if (job->deadline > now)
		left = (job->deadline - now) / NS_PER_MS;
	snprintf(words->purpose, WORD_BYTES, "%d", (int)job->purpose);
	snprintf(words->addresses, WORD_BYTES, "%u", job->address_count);
	snprintf(words->files, WORD_BYTES, "%u", job->file_count);
	snprintf(words->alternates, WORD_BYTES, "%d", job->alternate >= 0);
	snprintf(words->milliseconds, WORD_BYTES, "%llu", (unsigned long long)left);
	words->id[0] = '\0';
	for (size_t i = 0; i < job->id_size; i++)
		snprintf(words->id + 2 * i, 3, "%02x", job->id[i]);
}

static unsigned int list_descriptors(const struct reader_job *job, int fds[DESCRIPTORS_MAX])
{
	unsigned int count = 0;

	fds[count++] = job->addresses;
	fds[count++] = job->answer;
	for (unsigned int i = 0; i < job->file_count; i++)
		fds[count++] = job->files[i];
	if (job->alternate >= 0)
		fds[count++] = job->alternate;
	return count;
}

static int place_descriptors(const struct reader_job *job)
{
	int fds[DESCRIPTORS_MAX];
	const unsigned int count = list_descriptors(job, fds);

	for (unsigned int i = 0; i < count; i++) {
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, ABOVE);
		if (fds[i] < 0)
			return -errno;
	}
	for (unsigned int i = 0; i < count; i++)
		if (dup2(fds[i], READER_ADDRESSES + (int)i) < 0)
			return -errno;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		close(fd);
	/* those above are ours and close-on-exec (CLOSE_RANGE_CLOEXEC needs Linux 5.11) */
	return close_range(READER_ADDRESSES + count, ABOVE - 1, 0) ? -errno : 0;
}

static int become_program(const struct reader_job *job, int program, pid_t parent)
{
	const char *const none[] = {NULL};
	struct words words;
	int r;

	print_words(job, &words);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		return -errno;
	if (getppid() != parent)
		return -EPIPE;
	program = fcntl(program, F_DUPFD_CLOEXEC, ABOVE);
	if (program < 0)
		return -errno;
	r = place_descriptors(job);
	if (r == 0) {
		const char *const argv[] = {READER_PROGRAM,	KEYHOLE_VERSION, words.purpose,
					    words.addresses,	words.files,	 words.alternates,
					    words.milliseconds, words.id,	 NULL};

		syscall(SYS_execveat, program, "", argv, none, AT_EMPTY_PATH);
		r = -errno;
	}
	return r;
}

/* ---- the parent ---- */

static bool ends_until(pid_t pid, uint64_t until)
{
	const uint64_t now = time_now();
	guard_fd int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd poller = {.fd = fd, .events = POLLIN};
	int milliseconds = 0;

	if (fd < 0)
		return false;
	if (until > now)
		milliseconds = (int)((until - now) / NS_PER_MS);
	return poll(&poller, 1, milliseconds) == 1;
}

/* Waits for the end of the process, and kills a process that is late. */
static int await(pid_t pid, uint64_t until)
{
	const bool late = !ends_until(pid, until);
	int status;

	if (late)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (!WIFSIGNALED(status))
		return -WEXITSTATUS(status);
	return late || WTERMSIG(status) == SIGXCPU ? -ETIME : -EBADMSG;
}

int reader_run(const struct reader_job *job, int program)
{
	const uint64_t slack = reader_limits[job->purpose].slack * NS_PER_MS;
	const pid_t parent = getpid();
	pid_t pid;

	if (program < 0)
		return -ENOENT;
	if (ftruncate(job->answer, 0) || lseek(job->answer, 0, SEEK_SET))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		_exit(-become_program(job, program, parent));
	return await(pid, job->deadline + slack);
}

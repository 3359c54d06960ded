/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/code_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "loader/broker/mapped.h"
#include "loader/broker/mounts.h"
#include "loader/broker/thread.h"

#define PATH_BYTES 64

/* ---- the process --------------------------------------------------------------------------- */

/*
 * Returns the last of the numbers up to `most` in the line that begins with a word, or -E2BIG. The
 * kernel escapes line feeds in the only text of the status that a process chooses, its name.
 */
static long long last_number(const char *status, const char *word, int most)
{
	const char *at = strstr(status, word);
	long long number = -E2BIG;
	char *end;

	if (!at)
		return -E2BIG;
	at += strlen(word);
	for (int i = 0; i < most && *at != '\n' && *at; i++) {
		number = (long long)strtoull(at, &end, 10);
		if (end == at)
			return -E2BIG;
		at = end;
	}
	if (number < 0 || number > UINT32_MAX)
		return -E2BIG;
	return number;
}

int code_file_parse(const char *status, struct code_file_owner *ret_owner)
{
	/* real, effective; and one id for each namespace, the innermost last (proc(5)) */
	const long long uid = last_number(status, "\nUid:\t", 2);
	const long long pid = last_number(status, "\nNStgid:\t", 32);

	if (uid < 0 || pid < 1 || !strchr(strstr(status, "\nNStgid:\t") + 1, '\n'))
		return -E2BIG;
	*ret_owner = (struct code_file_owner){(uint32_t)uid, (uint32_t)pid};
	return 0;
}

static int look_at_process(uint32_t pid, uint32_t thread, struct code_file_owner *ret_owner)
{
	char text[CODE_FILE_STATUS_BYTES];
	guard_fd int fd = thread_open(pid, thread, "status");
	ssize_t length;

	if (fd < 0)
		return fd;
	length = read(fd, text, sizeof(text) - 1);
	if (length < 1)
		return -ESRCH;
	text[length] = '\0';
	return code_file_parse(text, ret_owner);
}

/* ---- the file ------------------------------------------------------------------------------ */

/* Opens one part of the path. O_PATH asks no file system that is mounted there. */
static int open_part(struct mounts *mounts, uint32_t pid, int folder, const char *name, int flags)
{
	guard_fd int fd = openat(folder, name, O_PATH | O_CLOEXEC | flags);
	int r;

	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return -EACCES;
	if (fd < 0)
		return -errno;
	r = mounts_check(mounts, pid, fd);
	if (r < 0)
		return r;
	return take_fd(&fd);
}

static int open_file(struct mounts *mounts, uint32_t pid, uint32_t thread, uint32_t inner)
{
	char name[PATH_BYTES];
	guard_fd int root = -1, folder = -1;

	snprintf(name, sizeof(name), "%u/task/%u/root", pid, thread);
	root = open_part(mounts, pid, AT_FDCWD, name, O_DIRECTORY);
	if (root < 0)
		return root;
	folder = open_part(mounts, pid, root, "tmp", O_DIRECTORY | O_NOFOLLOW);
	if (folder < 0)
		return folder;
	snprintf(name, sizeof(name), "perf-%u.map", inner);
	return open_part(mounts, pid, folder, name, O_NOFOLLOW);
}

/*
 * Opens a mapped file, whose link the kernel makes, and which is open for writing in the process.
 * Its name must be that of a dump of this process.
 */
static int open_dump(struct mounts *mounts, const struct mapped *mapped, uint32_t inner)
{
	char name[PATH_BYTES], path[PATH_MAX];
	const char *last;
	guard_fd int fd = -1;
	int r;

	if (!mapped_is_valid(mapped))
		return -EINVAL;
	fd = mapped_open_any(mapped);
	if (fd < 0)
		return fd;
	r = mapped_name(mapped, path);
	if (r < 0)
		return r;
	snprintf(name, sizeof(name), "/jit-%u.dump", inner);
	last = strrchr(path, '/');
	if (!last || strcmp(last, name) != 0)
		return -EACCES;
	r = mounts_check(mounts, mapped->pid, fd);
	if (r < 0)
		return r;
	return take_fd(&fd);
}

/* Another name may stand in for a file that the process cannot write to. */
static int check_file(int fd, const struct code_file_owner *owner,
		      struct message_object_reply *ret_reply)
{
	struct statx status;
	int r = mapped_identify(fd, &status, ret_reply);

	if (r < 0)
		return r;
	if (status.stx_nlink != 1 || status.stx_uid != owner->uid)
		return -EACCES;
	return 0;
}

int code_file_open(struct mounts *mounts, const struct mapped *mapped,
		   struct message_object_reply *ret_reply)
{
	struct code_file_owner owner;
	guard_fd int fd = -1;
	int r = look_at_process(mapped->pid, mapped->thread, &owner);

	if (r < 0)
		return r;
	if (mapped->start || mapped->end)
		fd = open_dump(mounts, mapped, owner.pid);
	else
		fd = open_file(mounts, mapped->pid, mapped->thread, owner.pid);
	if (fd < 0)
		return fd;
	r = check_file(fd, &owner, ret_reply);
	if (r < 0)
		return r;
	return take_fd(&fd);
}

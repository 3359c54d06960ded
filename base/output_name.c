/* SPDX-License-Identifier: Apache-2.0 */
#include "base/output_name.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/decimal.h"
#include "ipc/guard.h"

#define READER_TRIES 100
#define READER_MS    20 /* between two tries */

#define FOLDER_MAX 256

#define ANOTHER "; " OUTPUT_NAME_ANOTHER

/* ---- descriptors --------------------------------------------------------------------------- */

static const struct {
	const char *path;
	int descriptor;
} standard[] = {
	{"/dev/stdin", STDIN_FILENO},
	{"/dev/stdout", STDOUT_FILENO},
	{"/dev/stderr", STDERR_FILENO},
};

static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"};

int output_name_descriptor(const char *path)
{
	uint32_t descriptor;

	for (size_t i = 0; i < sizeof(standard) / sizeof(standard[0]); i++)
		if (strcmp(path, standard[i].path) == 0)
			return standard[i].descriptor;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		const size_t length = strlen(folders[i]);

		if (strncmp(path, folders[i], length) != 0)
			continue;
		if (decimal_read32(path + length, 0, INT32_MAX, &descriptor))
			return (int)descriptor;
	}
	return -1;
}

/* ---- names --------------------------------------------------------------------------------- */

/* Returns a negative errno as a problem, with advice. The text is valid until the next call. */
static const char *describe(int r)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s" ANOTHER, strerror(-r));
	return text;
}

/* Types of files that get no profile. */
static const struct {
	mode_t type;
	int error;
	const char *problem;
} refused[] = {
	{S_IFDIR, -EISDIR, "a folder" ANOTHER},
	{S_IFLNK, -ELOOP, "a symbolic link; name the file that it leads to: -o FILE"},
	{S_IFSOCK, -EINVAL, "a socket" ANOTHER},
	{S_IFCHR, -EINVAL, "a device; write to standard output: -o - >DEVICE"},
	{S_IFBLK, -EINVAL, "a device; write to standard output: -o - >DEVICE"},
};

static int look_at_type(mode_t type, bool force, const char **ret_problem)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if (refused[i].type != type)
			continue;
		*ret_problem = refused[i].problem;
		return refused[i].error;
	}
	if (type == S_IFIFO)
		return 1;
	if (force)
		return 0;
	*ret_problem = "exists; to replace it add: --force";
	return -EEXIST;
}

int output_name_look(const char *name, bool force, const char **ret_problem)
{
	struct stat status;
	int r;

	if (lstat(name, &status) == 0)
		return look_at_type(status.st_mode & S_IFMT, force, ret_problem);
	r = -errno;
	if (r == -ENOENT)
		return 0;
	*ret_problem = describe(r);
	return r;
}

static int rename_with(const char *from, const char *to, unsigned int flags)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, flags))
		return -errno;
	return 0;
}

/*
 * Replaces a regular file. Exchanges the names first and looks then, so that nothing comes in
 * between. Exchanges back anything but a regular file.
 */
static int exchange(const char *temporary, const char *name)
{
	struct stat status;
	int r = rename_with(temporary, name, RENAME_EXCHANGE);

	if (r == -EINVAL)
		return rename_with(temporary, name, 0);
	if (r < 0)
		return r;
	if (lstat(temporary, &status) == 0 && S_ISREG(status.st_mode))
		return 0;
	r = rename_with(temporary, name, RENAME_EXCHANGE);
	if (r < 0)
		return r;
	return -EEXIST;
}

static int give(const char *temporary, const char *name, bool force)
{
	int r = rename_with(temporary, name, RENAME_NOREPLACE);

	if (r == -EEXIST && force)
		return exchange(temporary, name);
	if (r != -EINVAL)
		return r;
	if (force)
		return rename_with(temporary, name, 0);
	/* NFS and others lack rename flags, but have links; the old name goes later */
	if (link(temporary, name))
		return -errno;
	return 0;
}

int output_name_give(const char *temporary, const char *name, bool force, const char **ret_problem)
{
	int r = output_name_look(name, force, ret_problem);

	if (r < 0)
		return r;
	if (r == 0)
		r = give(temporary, name, force);
	else
		r = -EEXIST; /* a FIFO that came meanwhile */
	if (r < 0)
		*ret_problem = describe(r);
	return r;
}

/* ---- FIFOs --------------------------------------------------------------------------------- */

/* Waits for a reader that starts at the same moment. Returns a descriptor or a negative errno. */
static int await_reader(const char *name)
{
	const int flags = O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;

	for (int i = 0; i < READER_TRIES; i++) {
		int fd = open(name, flags);

		if (fd >= 0)
			return fd;
		if (errno != ENXIO)
			return -errno;
		poll(NULL, 0, READER_MS);
	}
	return -ENXIO;
}

/*
 * Returns whether the user is this process's, or the user behind sudo. Anyone else could have put a
 * FIFO at a name that the user is about to give. SUDO_UID counts for root alone: sudo sets it.
 */
static bool is_own(uid_t uid)
{
	const char *sudo = getenv("SUDO_UID");
	const uid_t own = geteuid();
	uint32_t user;

	if (uid == own)
		return true;
	if (own != 0 || !sudo)
		return false;
	return decimal_read32(sudo, 0, UINT32_MAX - 1, &user) && user == uid;
}

int output_name_open_fifo(const char *name, const char **ret_problem)
{
	guard_fd int fd = await_reader(name);
	struct stat status;

	if (fd == -ENXIO)
		*ret_problem = "no process reads this FIFO; start its reader first";
	else if (fd < 0)
		*ret_problem = describe(fd);
	if (fd < 0)
		return fd;
	*ret_problem = "changed meanwhile" ANOTHER;
	if (fstat(fd, &status) || !S_ISFIFO(status.st_mode))
		return -EINVAL;
	*ret_problem = "a FIFO of another user; write to standard output: -o - >FIFO";
	if (!is_own(status.st_uid))
		return -EPERM;
	return take_fd(&fd);
}

/* ---- folders ------------------------------------------------------------------------------- */

void output_name_explain_folder(const char *path, int r, char ret_problem[OUTPUT_NAME_PROBLEM])
{
	const char *slash = strrchr(path, '/');
	int length = 1; /* of "/" or "." */

	if (!slash)
		path = ".";
	else if (slash > path)
		length = (int)strnlen(path, (size_t)(slash - path));
	if (length > FOLDER_MAX)
		length = FOLDER_MAX;
	if (r == -ENOENT)
		snprintf(ret_problem, OUTPUT_NAME_PROBLEM, "folder %.*s does not exist" ANOTHER,
			 length, path);
	else
		snprintf(ret_problem, OUTPUT_NAME_PROBLEM, "folder %.*s: %s" ANOTHER, length, path,
			 strerror(-r));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/output/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/guard.h"

static int enter_folder(struct output_file *file)
{
	const char *slash = strrchr(file->path, '/');
	guard_free char *folder = NULL;

	file->name = slash ? slash + 1 : file->path;
	if (!*file->name)
		return -EISDIR;
	if (!slash)
		return 0;
	folder = strndup(file->path, (size_t)(slash - file->path) + 1);
	if (!folder || chdir(folder))
		return -errno;
	return 0;
}

/*
 * Takes all rights from a root process, but the right to write into another user's folder where the
 * working directory is one.
 */
static int limit_root(void)
{
	const cap_value_t override = CAP_DAC_OVERRIDE;
	cap_t caps = cap_get_proc();

	if (!caps || cap_clear_flag(caps, CAP_EFFECTIVE) || cap_set_proc(caps) || cap_clear(caps) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	if (faccessat(AT_FDCWD, ".", W_OK | X_OK, AT_EACCESS) &&
	    (cap_set_flag(caps, CAP_PERMITTED, 1, &override, CAP_SET) ||
	     cap_set_flag(caps, CAP_EFFECTIVE, 1, &override, CAP_SET)))
		return -errno;
	return cap_set_proc(caps) ? -errno : 0;
}

/* Looks for the name early. rename and link decide at the end. */
static int check_name(const struct output_file *file)
{
	struct stat status;

	if (lstat(file->name, &status))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
		return -EINVAL;
	if (!file->force)
		return -EEXIST;
	return 0;
}

static int open_temporary(struct output_file *file)
{
	int fd;

	snprintf(file->temporary, sizeof(file->temporary), ".keyhole-%08x.tmp", arc4random());
	fd = open(file->temporary, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	return fd;
}

static int open_standard_output(void)
{
	int r = 0;

	if (chdir("/"))
		return -errno;
	if (geteuid() == 0)
		r = limit_root();
	if (r < 0)
		return r;
	return STDOUT_FILENO;
}

int output_file_open(struct output_file *file)
{
	int r;

	if (strcmp(file->path, "-") == 0)
		return open_standard_output();
	r = enter_folder(file);
	if (r < 0)
		return r;
	if (geteuid() == 0)
		r = limit_root();
	if (r < 0)
		return r;
	r = check_name(file);
	if (r < 0)
		return r;
	return open_temporary(file);
}

int output_file_commit(const struct output_file *file)
{
	int r;

	if (!*file->temporary)
		return 0;
	r = check_name(file);
	if (r)
		return r;
	r = renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->name,
		      file->force ? 0 : RENAME_NOREPLACE);
	/* NFS and others lack rename flags, but have links; the old name goes later */
	if (r && errno == EINVAL && !file->force)
		r = link(file->temporary, file->name);
	return r ? -errno : 0;
}

void output_file_discard(const struct output_file *file)
{
	if (*file->temporary)
		unlink(file->temporary);
}

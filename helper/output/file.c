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

/* Enters the folder that the path itself is. */
static int enter_path(struct output_file *file)
{
	int r;

	if (chdir(file->path) == 0)
		return 0;
	r = -errno;
	snprintf(file->room, sizeof(file->room),
		 "%s; make the folder, or name a server: --endpoint", strerror(-r));
	file->problem = file->room;
	return r;
}

static int enter_folder(struct output_file *file)
{
	const char *slash = strrchr(file->path, '/');
	guard_free char *folder = NULL;
	int r;

	file->name = file->path;
	if (!slash)
		return 0;
	file->name = slash + 1;
	folder = strndup(file->path, (size_t)(slash - file->path) + 1);
	if (folder && chdir(folder) == 0)
		return 0;
	r = -errno;
	output_name_explain_folder(file->path, r, file->room);
	file->problem = file->room;
	return r;
}

/* Returns whether root may write into the working directory with the right to override, alone. */
static bool needs_override(cap_t held)
{
	cap_flag_value_t has = CAP_CLEAR;

	if (faccessat(AT_FDCWD, ".", W_OK | X_OK, AT_EACCESS) == 0 || errno != EACCES)
		return false;
	return cap_get_flag(held, CAP_DAC_OVERRIDE, CAP_PERMITTED, &has) == 0 && has == CAP_SET;
}

/*
 * Takes all rights from a root process, but the right to write into another user's folder where the
 * working directory is one. A container may not have that right either.
 */
static int limit_root(void)
{
	const cap_value_t override = CAP_DAC_OVERRIDE;
	cap_t caps = cap_get_proc();
	bool overrides;

	if (!caps || cap_clear_flag(caps, CAP_EFFECTIVE) || cap_set_proc(caps) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	overrides = needs_override(caps);
	if (cap_clear(caps))
		return -errno;
	if (overrides && (cap_set_flag(caps, CAP_PERMITTED, 1, &override, CAP_SET) ||
			  cap_set_flag(caps, CAP_EFFECTIVE, 1, &override, CAP_SET)))
		return -errno;
	return cap_set_proc(caps) ? -errno : 0;
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

/* Enters the folder of the output, or none for a descriptor. */
static int enter(struct output_file *file)
{
	int r = 0;

	if (file->is_folder)
		r = enter_path(file);
	else if (strcmp(file->path, "-") != 0 && !file->is_nowhere)
		r = enter_folder(file);
	else if (chdir("/"))
		r = -errno;
	if (r < 0)
		return r;
	if (geteuid() == 0)
		return limit_root();
	return 0;
}

static int open_named(struct output_file *file)
{
	int r;

	file->problem = "a folder; " OUTPUT_NAME_ANOTHER;
	if (!*file->name)
		return -EISDIR;
	if (output_name_descriptor(file->path) >= 0) {
		file->problem = "keyhole writes its messages there or closes it; take -o -";
		return -EINVAL;
	}
	r = output_name_look(file->name, file->force || file->stream, &file->problem);
	if (r < 0)
		return r;
	if (r > 0)
		return output_name_open_fifo(file->name, &file->problem);
	if (file->stream) {
		file->problem = "a file takes no stream (--every); take -o - or a FIFO";
		return -EINVAL;
	}
	file->problem = NULL;
	return open_temporary(file);
}

/* Explains an error of the system that nothing else has explained. */
static int explain(struct output_file *file, int r)
{
	if (r >= 0 || file->problem)
		return r;
	snprintf(file->room, sizeof(file->room), "%s; " OUTPUT_NAME_ANOTHER, strerror(-r));
	file->problem = file->room;
	return r;
}

static int open_nowhere(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return fd;
}

int output_file_open(struct output_file *file)
{
	int r = enter(file);

	if (r < 0)
		return explain(file, r);
	if (strcmp(file->path, "-") == 0)
		return STDOUT_FILENO;
	if (file->is_nowhere)
		return open_nowhere();
	return explain(file, open_named(file));
}

static bool has_temporary(const struct output_file *file)
{
	struct stat status;

	return lstat(file->temporary, &status) == 0 && S_ISREG(status.st_mode);
}

int output_file_commit(struct output_file *file)
{
	int r;

	if (!*file->temporary)
		return 0;
	r = output_name_give(file->temporary, file->name, file->force, &file->problem);
	if (r == 0)
		return 0;
	file->kept = has_temporary(file);
	if (!file->kept)
		file->problem = "the unfinished file was removed; " OUTPUT_NAME_ANOTHER;
	return r;
}

void output_file_discard(const struct output_file *file)
{
	if (*file->temporary && !file->kept)
		unlink(file->temporary);
}

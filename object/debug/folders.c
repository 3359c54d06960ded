/* SPDX-License-Identifier: Apache-2.0 */
#include "object/debug/folders.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "ipc/guard.h"

#define BUILD_ID ".build-id/"

int debug_folders_add(struct debug_folders *folders, const char *path)
{
	int fd;

	if (folders->count == DEBUG_FOLDERS_MAX)
		return -E2BIG;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	folders->fd[folders->count++] = fd;
	return 0;
}

/* ---- one file ---- */

/*
 * Returns whether the kernel makes the contents of this file system's regular files. Reading or
 * mapping one may use a device, where the rights allow that (/sys/bus/pci/devices/x/resource0).
 */
static bool is_of_kernel(const struct statfs *system)
{
	static const uint32_t types[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC,	     DEBUGFS_MAGIC,
					 TRACEFS_MAGIC,	   SECURITYFS_MAGIC, EFIVARFS_MAGIC};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if ((uint32_t)system->f_type == types[i])
			return true;
	return false;
}

/* Checks the kind of file before opening it, because opening a device may act or wait. */
static int open_regular(int place)
{
	char path[sizeof("/proc/self/fd/") + 10];
	struct statfs system;
	struct stat status;
	int fd;

	if (fstat(place, &status) || fstatfs(place, &system))
		return -errno;
	if (!S_ISREG(status.st_mode) || is_of_kernel(&system))
		return -EACCES;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int debug_open_path(const char *path)
{
	guard_fd int place = -1;

	if (path[0] != '/')
		return -EINVAL;
	place = open(path, O_PATH | O_CLOEXEC);
	if (place < 0)
		return -errno;
	return open_regular(place);
}

/* ---- below folders ---- */

static bool has_suffix(const char *path)
{
	const size_t length = strlen(path), suffix = strlen(DEBUG_SUFFIX);

	return length > suffix && strcmp(path + length - suffix, DEBUG_SUFFIX) == 0;
}

static int open_below(int folder, const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};

	int fd;

	if (!has_suffix(path))
		return -EINVAL;
	fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

static int open_anywhere(int folder, const char *path)
{
	int fd;

	if (path[0] == '/' || strstr(path, ".."))
		return -EINVAL;
	fd = openat(folder, path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int debug_folders_open_at(const struct debug_folders *folders, size_t folder, const char *path)
{
	guard_fd int place = -1;

	if (folders->links == DEBUG_LINKS_BELOW)
		place = open_below(folders->fd[folder], path);
	else
		place = open_anywhere(folders->fd[folder], path);
	if (place < 0)
		return place;
	return open_regular(place);
}

int debug_folders_find(const struct debug_folders *folders, const char *path)
{
	int r = -ENOENT;

	for (size_t i = 0; i < folders->count && r < 0; i++)
		r = debug_folders_open_at(folders, i, path);
	return r;
}

int debug_id_path(const unsigned char *id, size_t size, const char *suffix,
		  char ret_path[static DEBUG_ID_PATH_BYTES])
{
	size_t used = strlen(BUILD_ID);

	if (size < 2 || size > (DEBUG_ID_PATH_BYTES - sizeof(BUILD_ID "/") - strlen(suffix)) / 2)
		return -EINVAL;
	memcpy(ret_path, BUILD_ID, used);
	for (size_t i = 0; i < size; i++)
		used += (size_t)snprintf(ret_path + used, DEBUG_ID_PATH_BYTES - used,
					 i == 0 ? "%02x/" : "%02x", id[i]);
	memcpy(ret_path + used, suffix, strlen(suffix) + 1);
	return 0;
}

int debug_folders_find_id(const struct debug_folders *folders, const unsigned char *id, size_t size)
{
	char path[DEBUG_ID_PATH_BYTES];
	int r = debug_id_path(id, size, DEBUG_SUFFIX, path);

	if (r < 0)
		return r;
	return debug_folders_find(folders, path);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/rules/keys.h"

#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

static const char *key_of_cgroup(const struct stat *status, const struct statfs *system,
				 struct deny_key *key)
{
	key->first = status->st_ino;
	if (system->f_type != CGROUP2_SUPER_MAGIC || !S_ISDIR(status->st_mode))
		return "not a cgroup v2 directory";
	return NULL;
}

static const char *key_of_file(const struct stat *status, struct deny_key *key)
{
	key->first = (u64)major(status->st_dev) << DENY_DEVICE_MINORS | minor(status->st_dev);
	key->second = status->st_ino;
	if (!S_ISREG(status->st_mode))
		return "not a regular file";
	return NULL;
}

/* For files of overlay and btrfs, stat() has device numbers that differ from the kernel's own. */
static const char *key_of_executable(const struct stat *status, const struct statfs *system,
				     struct deny_key *key)
{
	if (system->f_type == OVERLAYFS_SUPER_MAGIC || system->f_type == BTRFS_SUPER_MAGIC)
		return "its file system does not tell its device";
	return key_of_file(status, key);
}

/* Returns the kind of key that a kind of row has. */
static u64 kind_of_key(uint32_t kind)
{
	if (kind == ROW_MEMORY_CGROUP)
		return DENY_MEMORY_CGROUP;
	if (kind == ROW_MEMORY_UID)
		return DENY_UID;
	if (kind == ROW_MEMORY_COMM)
		return DENY_COMM;
	if (kind == ROW_MEMORY_EXECUTABLE)
		return DENY_EXECUTABLE;
	return kind;
}

const char *key_of_row(const struct policy_row *row, int fd, struct deny_key *ret_key)
{
	struct statfs system;
	struct stat status;

	*ret_key = (struct deny_key){.kind = kind_of_key(row->kind)};
	if (ret_key->kind == DENY_UID)
		ret_key->first = row->value;
	if (ret_key->kind == DENY_COMM)
		memcpy(&ret_key->first, row->text,
		       sizeof(ret_key->first) + sizeof(ret_key->second));
	if (!row_has_path(row))
		return NULL;
	if (fstat(fd, &status) || fstatfs(fd, &system))
		return strerror(errno);
	if (row->kind == ROW_CGROUP || row->kind == ROW_MEMORY_CGROUP)
		return key_of_cgroup(&status, &system, ret_key);
	if (row->kind == ROW_MEMORY_EXECUTABLE) /* stat() is what the broker compares with */
		return key_of_file(&status, ret_key);
	return key_of_executable(&status, &system, ret_key);
}

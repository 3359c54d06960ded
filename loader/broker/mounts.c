/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/guard.h"

#define PATH_BYTES	32
#define MOUNTINFO_BYTES (1u << 20) /* some 8,000 mounts, 3 ms; a process may make 100,000 */

/*
 * File systems that the kernel alone reads: from a block device, from memory or from another
 * allowed file system. The list leaves out file systems that ask a process or a server, which need
 * not answer. They are fuse and fuseblk (ntfs-3g, sshfs, fuse-overlayfs), nfs, cifs, ceph, afs, 9p,
 * virtiofs, autofs. The list also leaves out file systems without programs: proc, sysfs, devtmpfs,
 * hugetlbfs, secretmem.
 */
/* clang-format off */
static const char *const allowed[] = {
	"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "bcachefs", "zfs", "vfat", "exfat",
	"squashfs", "erofs", "iso9660", /* images */
	"tmpfs", "ramfs", "rootfs",	/* memory */
	"overlay",			/* of containers; mounts_overlay() checks the layers */
};
/* clang-format on */

/* Id of the kernel's own mount for memfds, which no mountinfo lists. */
static uint64_t memfds;

static int mount_id(int fd, uint64_t *ret_id)
{
	struct statx status;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &status))
		return -errno;
	if (!(status.stx_mask & STATX_MNT_ID)) /* Linux 5.8, fa2fcf4f1df1 */
		return -EACCES;
	*ret_id = status.stx_mnt_id;
	return 0;
}

int mounts_init(void)
{
	guard_fd int fd = memfd_create("keyhole-broker", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	return mount_id(fd, &memfds);
}

static bool is_allowed(const char *type)
{
	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
		if (strcmp(allowed[i], type) == 0)
			return true;
	return false;
}

/*
 * A line of mountinfo: "ID PARENT DEVICE ROOT POINT OPTIONS ... - TYPE SOURCE OPTIONS". The kernel
 * escapes blanks and newlines of names, and no field before the dash is a dash alone.
 */
struct mount {
	uint64_t id;
	const char *device, *point, *type, *options;
};

static bool parse(char *line, struct mount *ret_mount)
{
	char *rest = strstr(line, " - ");

	if (!rest)
		return false;
	*rest = '\0';
	rest += strlen(" - ");
	ret_mount->id = strtoull(strsep(&line, " "), NULL, 10);
	strsep(&line, " ");
	ret_mount->device = strsep(&line, " ");
	strsep(&line, " ");
	ret_mount->point = strsep(&line, " ");
	ret_mount->type = strsep(&rest, " ");
	strsep(&rest, " ");
	ret_mount->options = rest;
	return rest && ret_mount->point && *ret_mount->point == '/';
}

/* Takes the next mount from the list. Skips lines that are no mount: they hide no later mount. */
static bool next_mount(char **list, struct mount *ret_mount)
{
	char *line;

	while ((line = strsep(list, "\n")) != NULL)
		if (parse(line, ret_mount))
			return true;
	return false;
}

/* Returns whether a layer of "lowerdir=A:B,upperdir=C" is on this mount or below. */
static bool has_layer_on(const char *options, const char *point)
{
	const size_t length = strlen(point);
	const char *at = strstr(options, point);

	for (; at; at = strstr(at + 1, point))
		if (at > options && strchr("=:", at[-1]) && strchr("/:,", at[length]))
			return true;
	return false;
}

/* Returns whether each path of "/A:/B,..." is absolute. An empty one precedes layers of data. */
static bool are_absolute(const char *layers)
{
	bool begins = true;

	for (; *layers && *layers != ','; layers++) {
		if (begins && *layers != '/' && *layers != ':')
			return false;
		begins = *layers == ':';
	}
	return true;
}

/* Returns whether all layers are named by absolute paths that the kernel did not have to escape. */
static bool has_plain_layers(const char *options)
{
	static const char *const names[] = {"lowerdir=", "lowerdir+=", "upperdir=", "datadir+="};

	if (strchr(options, '\\'))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *at = strstr(options, names[i]);

		for (; at; at = strstr(at + 1, names[i]))
			if (!are_absolute(at + strlen(names[i])))
				return false;
	}
	return strstr(options, "lowerdir=/") || strstr(options, "lowerdir+=/");
}

/* Returns whether a layer on this file system makes an overlay as slow as a process or a server. */
static bool is_bad_layer(const char *type)
{
	return !is_allowed(type) || strcmp(type, "overlay") == 0;
}

/*
 * A user's own namespace may show anything as a layer. So the broker judges only an overlay that
 * the first process sees too, and looks for the layers where that process has them. The root of the
 * first process is always allowed: where that file system does not answer, nothing does.
 */
int mounts_overlay(const char *device, const char *options, char *first)
{
	bool refused = !has_plain_layers(options);
	bool seen = false;
	struct mount mount;

	while (next_mount(&first, &mount)) {
		bool same = strcmp(mount.device, device) == 0;
		bool root = strcmp(mount.point, "/") == 0;

		if (same && root)
			return 0;
		if (same)
			seen = true;
		else if (!root && is_bad_layer(mount.type) && has_layer_on(options, mount.point))
			refused = true;
	}
	if (refused || !seen)
		return -EACCES;
	return 0;
}

/* Reads as many bytes as fit. Returns their number; 0 after an error. */
static size_t read_file(const char *path, char *bytes)
{
	guard_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = 0;

	if (fd < 0)
		return 0;
	while (size < MOUNTINFO_BYTES) {
		ssize_t got = read(fd, bytes + size, MOUNTINFO_BYTES - size);

		if (got < 0)
			return 0;
		if (got == 0)
			break;
		size += (size_t)got;
	}
	return size;
}

/* Reads as many whole lines of the process's mountinfo as fit; "" where there are none. */
static char *read_list(uint32_t pid, char *list)
{
	char path[PATH_BYTES];
	size_t size;

	snprintf(path, sizeof(path), "%u/mountinfo", pid);
	size = read_file(path, list);
	while (size && list[size - 1] != '\n')
		size--;
	list[size] = '\0';
	return list;
}

static bool find(char *list, uint64_t id, struct mount *ret_mount)
{
	while (next_mount(&list, ret_mount))
		if (ret_mount->id == id)
			return true;
	return false;
}

/*
 * The id of a mount is unique over all namespaces while the descriptor keeps the mount. So the list
 * of any process may have the mount: a process that changed its root no longer sees the mount of
 * its own program.
 */
int mounts_check(uint32_t pid, int fd)
{
	static char own[MOUNTINFO_BYTES + 1];
	static char first[MOUNTINFO_BYTES + 1];
	struct mount mount;
	uint64_t id = 0;
	bool listed;
	int r = mount_id(fd, &id);

	if (r < 0 || id == memfds)
		return r;
	listed = *read_list(pid, own) != '\0';
	if (!find(own, id, &mount) && !find(read_list(1, own), id, &mount)) {
		if (!listed)
			return -ESRCH;
		return -EACCES;
	}
	if (!is_allowed(mount.type))
		return -EACCES;
	if (strcmp(mount.type, "overlay"))
		return 0;
	/* a list that was cut hides the mounts that follow */
	if (strlen(read_list(1, first)) > MOUNTINFO_BYTES / 2)
		return -EACCES;
	return mounts_overlay(mount.device, mount.options, first);
}

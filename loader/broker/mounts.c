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
 * What these read comes from a block device, from memory or from another of them, by code of the
 * kernel alone. Left out are those that ask a process or a server, which need not answer: fuse and
 * fuseblk (ntfs-3g, sshfs, fuse-overlayfs), nfs, cifs, ceph, afs, 9p, virtiofs, autofs; and those
 * whose files are no programs: proc, sysfs, devtmpfs, hugetlbfs, secretmem.
 */
/* clang-format off */
static const char *const allowed[] = {
	"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "bcachefs", "zfs", "vfat", "exfat",
	"squashfs", "erofs", "iso9660", /* images */
	"tmpfs", "ramfs", "rootfs",	/* memory */
	"overlay",			/* of containers, where all layers are on the others */
};
/* clang-format on */

/* The kernel's own mount that memfds are on, which no mountinfo lists. */
static uint64_t memfds;

static int mount_id(int fd, uint64_t *ret_id)
{
	struct statx status;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &status))
		return -errno;
	*ret_id = status.stx_mnt_id;
	return status.stx_mask & STATX_MNT_ID ? 0 : -EACCES; /* Linux 5.8, fa2fcf4f1df1 */
}

int mounts_init(void)
{
	guard_fd int fd = memfd_create("keyhole-broker", MFD_CLOEXEC);

	return fd < 0 ? -errno : mount_id(fd, &memfds);
}

static int verdict(const char *type)
{
	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
		if (strcmp(allowed[i], type) == 0)
			return 0;
	return -EACCES;
}

/* "ID PARENT DEVICE ROOT POINT OPTIONS ... - TYPE SOURCE OPTIONS": the kernel escapes blanks and
 * newlines of names, and none of the fields before is a dash alone. */
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

/* A line that is no mount does not hide those behind it. */
static bool next_mount(char **list, struct mount *ret_mount)
{
	char *line;

	while ((line = strsep(list, "\n")) != NULL)
		if (parse(line, ret_mount))
			return true;
	return false;
}

/* "lowerdir=A:B,upperdir=C": whether one of them is on, or below, this mount. */
static bool has_layer_on(const char *options, const char *point)
{
	size_t length = strlen(point);

	for (const char *at = options; (at = strstr(at, point)) != NULL; at++)
		if (at > options && strchr("=:", at[-1]) && strchr("/:,", at[length]))
			return true;
	return false;
}

/*
 * A user's own namespace may show anything as a layer. So only what the first process sees too is
 * judged, by where it has the layers. What that process itself runs on answers, or nothing does.
 */
int mounts_overlay(const char *device, const char *options, char *first)
{
	bool named = strstr(options, "lowerdir=/") || strstr(options, "lowerdir+=/");
	bool seen = false, refused = !named || strchr(options, '\\');
	struct mount mount;

	while (next_mount(&first, &mount)) {
		bool root = strcmp(mount.point, "/") == 0;

		if (strcmp(mount.device, device) == 0 && root)
			return 0;
		if (strcmp(mount.device, device) == 0)
			seen = true;
		else if (!root && (verdict(mount.type) || strcmp(mount.type, "overlay") == 0))
			refused |= has_layer_on(options, mount.point);
	}
	return seen && !refused ? 0 : -EACCES;
}

/* As many whole lines of it as fit; "" where there are none. */
static char *read_list(uint32_t pid, char *list)
{
	char path[PATH_BYTES];
	guard_fd int fd = -1;
	size_t size = 0;
	ssize_t got = 1;

	snprintf(path, sizeof(path), "%u/mountinfo", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && got > 0 && size < MOUNTINFO_BYTES) {
		got = read(fd, list + size, MOUNTINFO_BYTES - size);
		size += got > 0 ? (size_t)got : 0;
	}
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
 * An id is unique over all namespaces while the descriptor keeps its mount, so it does not matter
 * who lists it: a process that changed its root does not see the mount of its own program any more.
 */
int mounts_check(uint32_t pid, int fd)
{
	static char own[MOUNTINFO_BYTES + 1], first[MOUNTINFO_BYTES + 1];
	struct mount mount;
	uint64_t id = 0;
	int r = mount_id(fd, &id);

	if (r < 0 || id == memfds)
		return r;
	if (!find(read_list(pid, own), id, &mount) && !find(read_list(1, own), id, &mount))
		return -EACCES;
	if (strcmp(mount.type, "overlay"))
		return verdict(mount.type);
	/* one that was cut hides what is below */
	if (strlen(read_list(1, first)) > MOUNTINFO_BYTES / 2)
		return -EACCES;
	return mounts_overlay(mount.device, mount.options, first);
}

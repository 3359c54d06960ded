/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/guard.h"

#define PATH_BYTES	32
#define READ_BYTES	4096
#define MOUNTINFO_BYTES (1u << 20) /* some 8,000 mounts, 3 ms; a process may make 100,000 */
#define TYPE_BYTES	16	   /* with its NUL; a longer type is none of those below */

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
	"overlay",			/* of containers; as slow as the slowest of its layers */
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

/* "ID PARENT DEVICE ... - TYPE ...": the kernel escapes blanks and newlines of names, and none of
 * the fields before is a dash alone. */
struct scan {
	uint64_t wanted, id;
	bool numbered;
	unsigned int dash; /* so much of " - " has come */
	unsigned int length;
	char type[TYPE_BYTES];
};

/* 1: go on, else the verdict. */
static int scan_byte(struct scan *scan, char byte)
{
	if (byte == '\n')
		*scan = (struct scan){.wanted = scan->wanted};
	else if (!scan->numbered && byte != ' ')
		scan->id = scan->id * 10 + (uint64_t)(byte - '0');
	else if (!scan->numbered)
		scan->numbered = true;
	else if (scan->dash < 3)
		scan->dash = byte == " - "[scan->dash] ? scan->dash + 1 : byte == ' ';
	else if (byte == ' ' && scan->id == scan->wanted)
		return verdict(scan->type);
	else if (scan->length < TYPE_BYTES - 1)
		scan->type[scan->length++] = byte;
	return 1;
}

/* 1: not in this list. */
static int look_up(uint32_t pid, uint64_t id)
{
	struct scan scan = {.wanted = id};
	char path[PATH_BYTES], bytes[READ_BYTES];
	guard_fd int fd = -1;
	ssize_t got = 1;
	int r = 1;

	snprintf(path, sizeof(path), "%u/mountinfo", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (size_t sum = 0; fd >= 0 && r == 1 && got > 0 && sum < MOUNTINFO_BYTES;) {
		got = read(fd, bytes, sizeof(bytes));
		for (ssize_t i = 0; i < got && r == 1; i++)
			r = scan_byte(&scan, bytes[i]);
		sum += got > 0 ? (size_t)got : 0;
	}
	return r;
}

/*
 * An id is unique over all namespaces while the descriptor keeps its mount, so it does not matter
 * who lists it: a process that changed its root does not see the mount of its own program any more.
 */
int mounts_check(uint32_t pid, int fd)
{
	uint64_t id = 0;
	int r = mount_id(fd, &id);

	if (r < 0 || id == memfds)
		return r;
	r = look_up(pid, id);
	if (r == 1 && pid != 1)
		r = look_up(1, id);
	return r == 1 ? -EACCES : r;
}

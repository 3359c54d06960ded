/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/broker/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "ipc/guard.h"
#include "ipc/log.h"
#include "ipc/time.h"
#include "loader/broker/mountinfo.h"

#define PATH_BYTES	  32
#define UNKNOWN_NAMESPACE 0
#define DOUBT_NS	  (10 * NS_PER_SECOND) /* a refusal holds, if the lists may change it */

#ifndef STATX_MNT_ID_UNIQUE /* Linux 6.8, 98d2b43081972 */
#define STATX_MNT_ID_UNIQUE 0x00004000U
#endif

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

static bool is_allowed(const char *type)
{
	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
		if (strcmp(allowed[i], type) == 0)
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

	while (mountinfo_next(&first, &mount)) {
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

/* ---- mounts -------------------------------------------------------------------------------- */

struct mount_key {
	uint64_t id;
	bool unique; /* no later mount gets the id */
};

/* wanted: STATX_MNT_ID_UNIQUE, which an older kernel answers with the plain id, or STATX_MNT_ID. */
static int mount_id(int fd, unsigned int wanted, struct mount_key *ret_key)
{
	struct statx status;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, wanted, &status))
		return -errno;
	ret_key->id = status.stx_mnt_id;
	ret_key->unique = status.stx_mask & STATX_MNT_ID_UNIQUE;
	if (ret_key->unique || status.stx_mask & STATX_MNT_ID) /* Linux 5.8, fa2fcf4f1df1 */
		return 0;
	return -EACCES;
}

/*
 * Judges a mount that a list has. Another mount of the first process may change the refusal of an
 * overlay. The layers of an overlay never change, so the first approval holds.
 */
static void judge(struct mount *mount, struct verdict *verdict)
{
	static struct mountinfo_list first;

	verdict->until = VERDICT_ALWAYS;
	verdict->error = -EACCES;
	if (!is_allowed(mount->type))
		return;
	verdict->error = 0;
	if (strcmp(mount->type, "overlay"))
		return;
	verdict->error = -EACCES;
	/* a list that was cut hides the mounts that follow */
	if (strlen(mountinfo_read(1, &first)) <= MOUNTINFO_BYTES / 2)
		verdict->error = mounts_overlay(mount->device, mount->options, first.text);
	if (verdict->error)
		verdict->until = verdict->used + DOUBT_NS;
}

/*
 * The plain id of a mount is unique over all namespaces while the descriptor keeps the mount. So
 * the list of any process may have the mount: a process that changed its root no longer sees the
 * mount of its own program. statmount(2) would answer without a list. But about another namespace
 * the call answers only a caller with CAP_SYS_ADMIN, which the broker does not have.
 */
static int look_up(uint32_t pid, int fd, struct verdict *verdict)
{
	static struct mountinfo_list list;
	struct mount_key key;
	struct mount mount;
	bool listed;
	int r = mount_id(fd, STATX_MNT_ID, &key);

	if (r < 0)
		return r;
	listed = *mountinfo_read(pid, &list) != '\0';
	if (mountinfo_find(list.text, key.id, &mount)) {
		judge(&mount, verdict);
		return 0;
	}
	if (mountinfo_find(mountinfo_read(1, &list), key.id, &mount)) {
		verdict->privileged = true;
		judge(&mount, verdict);
		return 0;
	}
	if (!listed)
		return -ESRCH;
	return -EACCES;
}

/* ---- users --------------------------------------------------------------------------------- */

/* Returns the inode of the process's namespace, or UNKNOWN_NAMESPACE and sets errno. */
static uint32_t find_namespace(uint32_t pid, const char *name)
{
	char path[PATH_BYTES];
	struct statx status;

	snprintf(path, sizeof(path), "%u/ns/%s", pid, name);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO, &status))
		return UNKNOWN_NAMESPACE;
	return (uint32_t)status.stx_ino; /* which has 32 bits: struct ns_common */
}

/*
 * A stranger is a process outside the first process's user namespace: there, a user may mount what
 * they want. Elsewhere only root adds mounts.
 */
static bool is_stranger(const struct mounts *mounts, uint32_t pid)
{
	uint32_t users;

	if (!mounts->has_users)
		return false;
	users = find_namespace(pid, "user");
	return users == UNKNOWN_NAMESPACE || users != mounts->users;
}

int mounts_group(const struct mounts *mounts, uint32_t pid, struct charge_group *ret_group)
{
	char path[PATH_BYTES];
	struct statx process;

	snprintf(path, sizeof(path), "%u", pid);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_UID, &process))
		return -errno;
	ret_group->id = process.stx_uid;
	ret_group->stranger = is_stranger(mounts, pid);
	if (!ret_group->stranger)
		ret_group->id |= (uint64_t)find_namespace(pid, "mnt") << 32;
	return 0;
}

/* Logs the first refusal, and each that doubles their number. */
static int refuse(struct mounts *mounts, uint32_t pid, const struct charge_group *group)
{
	uint64_t before = mounts->refused++;

	if ((before & mounts->refused) == 0)
		log_warning("mounts: process %u of uid %u: long lists, files opened later (%llu)",
			    pid, (uint32_t)group->id, (unsigned long long)mounts->refused);
	return -EBUSY;
}

/* ---- the broker's questions ---------------------------------------------------------------- */

int mounts_init(struct mounts *mounts)
{
	guard_fd int fd = memfd_create("keyhole-broker", MFD_CLOEXEC);
	struct mount_key key;
	struct stat status;
	int r;

	*mounts = (struct mounts){0};
	if (fd < 0 || fstat(fd, &status))
		return -errno;
	mounts->memfd_device = status.st_dev;
	r = mount_id(fd, STATX_MNT_ID_UNIQUE, &key);
	if (r < 0)
		return r;
	mounts->memfds = key.id;
	mounts->users = find_namespace(1, "user");
	mounts->has_users = mounts->users != UNKNOWN_NAMESPACE || errno != ENOENT;
	r = charges_init(&mounts->charges);
	if (r < 0)
		return r;
	return verdicts_init(&mounts->verdicts);
}

/*
 * Lists take time as their users like. Strangers pay for all of it. Others pay for a mount in no
 * list alone, because nothing remembers such an answer: another process's list may have the mount.
 */
static int ask_lists(struct mounts *mounts, uint32_t pid, int fd, const struct mount_key *key)
{
	const uint64_t start = time_now();
	struct verdict verdict = {.mount = key->id, .used = start};
	struct charge_group group;
	int r = mounts_group(mounts, pid, &group);

	if (r < 0)
		return r;
	if (charges_check(&mounts->charges, &group, start))
		return refuse(mounts, pid, &group);
	r = look_up(pid, fd, &verdict);
	if (group.stranger || r == -EACCES)
		charges_add(&mounts->charges, &group, start, time_now());
	if (r < 0)
		return r;
	verdict.privileged |= !group.stranger;
	if (key->unique)
		verdicts_add(&mounts->verdicts, &verdict);
	return verdict.error;
}

int mounts_check(struct mounts *mounts, uint32_t pid, int fd)
{
	struct mount_key key;
	int known;
	int r = mount_id(fd, STATX_MNT_ID_UNIQUE, &key);

	if (r < 0 || key.id == mounts->memfds)
		return r;
	if (key.unique && verdicts_find(&mounts->verdicts, key.id, time_now(), &known))
		return known;
	return ask_lists(mounts, pid, fd, &key);
}

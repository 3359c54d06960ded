/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "ipc/time.h"
#include "loader/broker/mountinfo.h"
#include "loader/broker/mounts.h"

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x00004000U
#endif

#define LIST                                                                                       \
	"21 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"                                \
	"22 21 0:20 / /proc rw,nosuid shared:2 - proc proc rw\n"                                   \
	"30 21 0:40 / /fuse rw - fuse.sshfs host: rw,user_id=0\n"                                  \
	"31 21 0:41 / /srv/nfs rw - nfs4 host:/ rw\n"                                              \
	"32 21 8:17 / /srv rw - xfs /dev/sdb1 rw\n"                                                \
	"33 21 0:50 / /merged rw shared:9 master:3 - overlay overlay rw,lowerdir=/a,upperdir=/b\n" \
	"34 21 0:51 / /run/merged rw - overlay  rw,lowerdir=/lower\n"

static int judge(const char *device, const char *options)
{
	char *list = strdup(LIST);
	int r = mounts_overlay(device, options, list);

	free(list);
	return r;
}

static void test_mounts__layers_on_allowed_file_systems(void **state)
{
	static const char *const good[] = {
		"rw,lowerdir=/lower",
		"rw,relatime,lowerdir=/var/l/A:/var/l/B,upperdir=/srv/diff,workdir=/srv/work",
		"rw,lowerdir+=/var/a,lowerdir+=/var/b,datadir+=/var/c",
		"rw,lowerdir=/a::/data,metacopy=on",
		"ro,context=\"system_u:object_r:container_file_t:s0:c1,c2\",lowerdir=/a",
		/* names that only begin, end or go on like those of mounts */
		"rw,lowerdir=/fuses:/a/fuse:/srv/nfs4",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_int_equal(judge("0:51", good[i]), 0);
}

static void test_mounts__layers_that_may_wait(void **state)
{
	static const char *const bad[] = {
		"rw,lowerdir=/fuse",
		"rw,lowerdir=/fuse,upperdir=/b",
		"rw,lowerdir=/a:/fuse/deep/down",
		"rw,lowerdir=/a::/fuse",
		"rw,lowerdir+=/a,lowerdir+=/srv/nfs/x",
		"rw,lowerdir=/a,upperdir=/fuse/u",
		"rw,lowerdir=/a,datadir+=/fuse",
		"rw,lowerdir=/fuses:/fuse",
		/* on another overlay; names that are not what they look like */
		"rw,lowerdir=/merged/a",
		"rw,lowerdir=a:b",
		"rw,lowerdir=/a:b",
		"rw,lowerdir=/a,upperdir=b",
		"rw,lowerdir+=/a,lowerdir+=b",
		"rw,lowerdir+=/a,datadir+=b",
		"rw,lowerdir=/a\\054b",
		"rw",
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(judge("0:51", bad[i]), -EACCES);
}

static void test_mounts__who_mounted_it(void **state)
{
	char root[] = "21 1 0:50 / / rw - overlay overlay rw,lowerdir=/not/to/be/seen\n";
	char nothing[] = "", damaged[] = "21 1 0:50 / /\n- \n - \n\n";
	char between[] =
		"34 21 0:51 / /m rw - overlay o rw\n\n1 1 0:9 /\n2 1 0:9 /  rw - fuse s rw\n"
		"30 21 0:40 / /fuse rw - fuse.sshfs host: rw\n";

	(void)state;
	/* in a namespace of its own */
	assert_int_equal(judge("0:99", "rw,lowerdir=/lower"), -EACCES);
	assert_int_equal(judge("0:5", "rw,lowerdir=/lower"), -EACCES);
	/* what all runs on; an overlay on it */
	assert_int_equal(mounts_overlay("0:50", "rw,lowerdir=l", root), 0);
	assert_int_equal(mounts_overlay("0:50", "rw,lowerdir=/a", nothing), -EACCES);
	assert_int_equal(mounts_overlay("0:50", "rw,lowerdir=/a", damaged), -EACCES);
	/* what is no mount hides none */
	assert_int_equal(mounts_overlay("0:51", "rw,lowerdir=/fuse/a", between), -EACCES);
}

/* ---- lists --------------------------------------------------------------------------------- */

static bool finds(const char *text, uint64_t id, struct mount *ret_mount)
{
	static char list[1024];

	snprintf(list, sizeof(list), "%s", text);
	return mountinfo_find(list, id, ret_mount);
}

static void test_mounts__are_found_by_id(void **state)
{
	struct mount mount;

	(void)state;
	assert_true(finds(LIST, 30, &mount));
	assert_int_equal(mount.id, 30);
	assert_string_equal(mount.type, "fuse.sshfs");
	assert_string_equal(mount.point, "/fuse");
	assert_true(finds(LIST, 34, &mount));
	assert_string_equal(mount.device, "0:51");
	assert_string_equal(mount.options, "rw,lowerdir=/lower");
	/* without a newline at the end; behind what is no mount */
	assert_true(finds("7 1 0:5 / / rw - ext4 d rw", 7, &mount));
	assert_true(finds("\n7\n\n 7\n7 1 0:5 / / rw - xfs d rw\n", 7, &mount));
	assert_string_equal(mount.type, "xfs");
	/* numbers that only begin so, or are of another word */
	assert_false(finds(LIST, 3, &mount));
	assert_false(finds(LIST, 340, &mount));
	assert_false(finds("21 7 0:7 / / rw - ext4 7 rw\n", 7, &mount));
	assert_false(finds("", 7, &mount));
	assert_false(finds("\n", 0, &mount));
}

/* ---- what the broker asks ------------------------------------------------------------------ */

#define USER	 4711 /* a process */
#define STRANGER 4712 /* a process in another user namespace */

/* A folder in place of /proc. Its file system is on the lists under any type. */
struct rig {
	char folder[64];
	int fd; /* a file there, O_PATH */
	uint64_t id;
	bool unique; /* the kernel tells unique ids */
	struct mounts mounts;
};

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void make_process(uint32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "%u", pid);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%u/ns", pid);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%u/ns/mnt", pid);
	write_text(path, "");
}

/* type NULL: the mount is not on the list. */
static void list_mount(const struct rig *rig, uint32_t pid, const char *type)
{
	char path[64], text[256] = "1 1 0:5 / /other rw - ext4 d rw\n";

	if (type)
		snprintf(text, sizeof(text),
			 "1 1 0:5 / /o rw - ext4 d rw\n%llu 1 0:51 / / rw - %s\n",
			 (unsigned long long)rig->id, type);
	snprintf(path, sizeof(path), "%u/mountinfo", pid);
	write_text(path, text);
}

static uint64_t ask_mount_id(int fd, unsigned int wanted, unsigned int *ret_mask)
{
	struct statx status;

	assert_int_equal(statx(fd, "", AT_EMPTY_PATH, wanted, &status), 0);
	*ret_mask = status.stx_mask;
	return status.stx_mnt_id;
}

static int setup(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	unsigned int mask;

	snprintf(rig->folder, sizeof(rig->folder), "/tmp/keyhole-mounts-XXXXXX");
	assert_non_null(mkdtemp(rig->folder));
	assert_int_equal(chdir(rig->folder), 0);
	make_process(1);
	make_process(USER);
	make_process(STRANGER);
	write_text("1/ns/user", "");
	assert_int_equal(link("1/ns/user", "4711/ns/user"), 0);
	write_text("4712/ns/user", "");
	rig->fd = open(".", O_PATH | O_CLOEXEC);
	ask_mount_id(rig->fd, STATX_MNT_ID_UNIQUE, &mask);
	rig->unique = mask & STATX_MNT_ID_UNIQUE;
	rig->id = ask_mount_id(rig->fd, STATX_MNT_ID, &mask);
	list_mount(rig, 1, NULL);
	list_mount(rig, USER, NULL);
	list_mount(rig, STRANGER, NULL);
	assert_int_equal(mounts_init(&rig->mounts), 0);
	*state = rig;
	return 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status, (void)type, (void)place;
	return remove(path);
}

static int teardown(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(chdir("/"), 0);
	assert_int_equal(nftw(rig->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
	close(rig->fd);
	free(rig);
	return 0;
}

static void test_mounts__verdict_is_that_of_the_list(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(mounts_check(&rig->mounts, USER, rig->fd), -EACCES);
	list_mount(rig, USER, "ext4 d rw");
	assert_int_equal(mounts_check(&rig->mounts, USER, rig->fd), 0);
}

static void test_mounts__file_system_of_a_server_is_refused(void **state)
{
	struct rig *rig = *state;

	list_mount(rig, USER, "fuse d rw");
	assert_int_equal(mounts_check(&rig->mounts, USER, rig->fd), -EACCES);
}

static void test_mounts__first_process_has_those_of_others(void **state)
{
	struct rig *rig = *state;

	list_mount(rig, 1, "ext4 d rw");
	assert_int_equal(mounts_check(&rig->mounts, USER, rig->fd), 0);
}

static void test_mounts__process_without_a_list_is_gone(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(unlink("4711/mountinfo"), 0);
	assert_int_equal(mounts_check(&rig->mounts, USER, rig->fd), -ESRCH);
	assert_int_equal(mounts_check(&rig->mounts, 99, rig->fd), -ENOENT);
}

/* A later mount may have the plain id: only by a unique one is a verdict remembered. */
static void test_mounts__verdict_is_remembered_by_unique_id(void **state)
{
	struct rig *rig = *state;
	int expected = -EACCES;

	list_mount(rig, USER, "ext4 d rw");
	assert_int_equal(mounts_check(&rig->mounts, USER, rig->fd), 0);
	list_mount(rig, USER, "fuse d rw");
	if (rig->unique)
		expected = 0;
	assert_int_equal(mounts_check(&rig->mounts, USER, rig->fd), expected);
	assert_int_equal(mounts_check(&rig->mounts, STRANGER, rig->fd), expected);
}

/* A process whose own list lacks the mount takes nothing from those whose lists have the mount. */
static void test_mounts__not_listed_is_not_remembered(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(mounts_check(&rig->mounts, STRANGER, rig->fd), -EACCES);
	list_mount(rig, USER, "ext4 d rw");
	assert_int_equal(mounts_check(&rig->mounts, USER, rig->fd), 0);
}

static void test_mounts__overlay_needs_the_first_process(void **state)
{
	struct rig *rig = *state;

	list_mount(rig, STRANGER, "overlay o rw,lowerdir=/lower");
	assert_int_equal(mounts_check(&rig->mounts, STRANGER, rig->fd), -EACCES);
	assert_int_equal(mounts_init(&rig->mounts), 0);
	list_mount(rig, 1, "overlay o rw,lowerdir=/lower");
	assert_int_equal(mounts_check(&rig->mounts, STRANGER, rig->fd), 0);
}

static void use_up(struct rig *rig, struct charge_group group)
{
	uint64_t now = time_now();

	for (int i = 0; i < CHARGE_SHARE; i++)
		charges_add(&rig->mounts.charges, &group, now - NS_PER_SECOND, now);
}

static void test_mounts__stranger_who_used_up_waits(void **state)
{
	struct rig *rig = *state;

	list_mount(rig, USER, "ext4 d rw");
	list_mount(rig, STRANGER, "ext4 d rw");
	use_up(rig, (struct charge_group){geteuid(), true});
	assert_int_equal(mounts_check(&rig->mounts, STRANGER, rig->fd), -EBUSY);
	assert_int_equal(rig->mounts.refused, 1);
	/* the same user's other processes pay for themselves, and what is known costs nothing */
	assert_int_equal(mounts_check(&rig->mounts, USER, rig->fd), 0);
	if (rig->unique)
		assert_int_equal(mounts_check(&rig->mounts, STRANGER, rig->fd), 0);
}

static void test_mounts__strangers_pay(void **state)
{
	struct rig *rig = *state;

	list_mount(rig, USER, "ext4 d rw");
	assert_int_equal(mounts_check(&rig->mounts, USER, rig->fd), 0);
	assert_int_equal(rig->mounts.charges.strangers, 0);
	assert_int_equal(mounts_init(&rig->mounts), 0);
	list_mount(rig, STRANGER, "ext4 d rw");
	assert_int_equal(mounts_check(&rig->mounts, STRANGER, rig->fd), 0);
	assert_true(rig->mounts.charges.strangers > 0);
}

static void test_mounts__memfds_need_no_list(void **state)
{
	struct rig *rig = *state;
	guard_fd int fd = memfd_create("test", MFD_CLOEXEC);

	assert_int_equal(mounts_check(&rig->mounts, 99, fd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ASKED(name) cmocka_unit_test_setup_teardown(test_mounts__##name, setup, teardown)
		cmocka_unit_test(test_mounts__layers_on_allowed_file_systems),
		cmocka_unit_test(test_mounts__layers_that_may_wait),
		cmocka_unit_test(test_mounts__who_mounted_it),
		cmocka_unit_test(test_mounts__are_found_by_id),
		ASKED(verdict_is_that_of_the_list),
		ASKED(file_system_of_a_server_is_refused),
		ASKED(first_process_has_those_of_others),
		ASKED(process_without_a_list_is_gone),
		ASKED(verdict_is_remembered_by_unique_id),
		ASKED(not_listed_is_not_remembered),
		ASKED(overlay_needs_the_first_process),
		ASKED(stranger_who_used_up_waits),
		ASKED(strangers_pay),
		ASKED(memfds_need_no_list),
#undef ASKED
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

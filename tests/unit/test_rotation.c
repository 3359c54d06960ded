/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of windows: names, age, room, and what is not a window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper/output/rotation.h"
#include "helper/output/window_file.h"
#include "ipc/guard.h"

#define NOW    1800000000 /* 2027-01-15 08:00:00 UTC */
#define SUFFIX ".pb.gz"

static char folder[] = "/tmp/keyhole-rotation-XXXXXX", before[4096];

static int setup(void **state)
{
	(void)state;
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	if (!getcwd(before, sizeof(before)) || !mkdtemp(folder) || chdir(folder))
		return -1;
	return 0;
}

static int teardown(void **state)
{
	DIR *dir = opendir(".");

	(void)state;
	for (struct dirent *entry; (entry = readdir(dir));)
		unlink(entry->d_name);
	closedir(dir);
	if (chdir(before))
		return -1;
	return rmdir(folder);
}

static int make_window(size_t size, int seals)
{
	int fd = memfd_create("window", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(pwrite(fd, "window", 6, 0), 6);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static int keep(size_t size, time_t now)
{
	guard_fd int fd = make_window(size, F_SEAL_SHRINK | F_SEAL_GROW);

	return rotation_keep(fd, size, SUFFIX, now);
}

static off_t size_of(const char *name)
{
	struct stat status;

	if (lstat(name, &status))
		return -1;
	return status.st_size;
}

static void make_file(const char *name, off_t size)
{
	guard_fd int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_int_equal(ftruncate(fd, size), 0);
}

static unsigned int count_files(void)
{
	DIR *dir = opendir(".");
	unsigned int count = 0;

	for (struct dirent *entry; (entry = readdir(dir));)
		count += entry->d_type == DT_REG;
	closedir(dir);
	return count;
}

static void test_rotation__a_file_for_each_window(void **state)
{
	const struct timespec written[] = {{.tv_sec = NOW}, {.tv_sec = NOW}};
	struct stat status;

	(void)state;
	assert_int_equal(keep(1000, NOW), 0);
	assert_int_equal(utimensat(AT_FDCWD, "keyhole-20270115T080000Z.pb.gz", written, 0), 0);
	assert_int_equal(keep(2000, NOW + 15), 0);
	assert_int_equal(size_of("keyhole-20270115T080000Z.pb.gz"), 1000);
	assert_int_equal(size_of("keyhole-20270115T080015Z.pb.gz"), 2000);
	assert_int_equal(stat("keyhole-20270115T080015Z.pb.gz", &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(count_files(), 2);
}

/* Files have no blocks, so that the test needs no room either. */
static void test_rotation__the_oldest_make_room(void **state)
{
	(void)state;
	make_file("keyhole-20260101T000000Z.pb.gz", ROTATION_BYTES / 2);
	make_file("keyhole-20260101T000001Z.otlp", ROTATION_BYTES / 4);
	make_file("keyhole-20260101T000002Z.pb.gz", ROTATION_BYTES / 4);
	make_file("keyhole-mine.pb.gz", ROTATION_BYTES);
	make_file("keyhole-20260101T000000Z", ROTATION_BYTES);
	assert_int_equal(keep(6, NOW - 50000000), 0); /* no file is of that time's future */
	assert_int_equal(size_of("keyhole-20260101T000000Z.pb.gz"), -1);
	assert_true(size_of("keyhole-20260101T000001Z.otlp") > 0);
	assert_true(size_of("keyhole-20260101T000002Z.pb.gz") > 0);
	/* not ours */
	assert_true(size_of("keyhole-mine.pb.gz") > 0);
	assert_true(size_of("keyhole-20260101T000000Z") > 0);
}

static void test_rotation__the_old_go(void **state)
{
	(void)state;
	make_file("keyhole-20260101T000000Z.pb.gz", 10); /* written now */
	assert_int_equal(keep(6, time(NULL) + ROTATION_SECONDS - 60), 0);
	assert_int_equal(size_of("keyhole-20260101T000000Z.pb.gz"), 10);
	assert_int_equal(keep(6, time(NULL) + ROTATION_SECONDS + 60), 0);
	assert_int_equal(size_of("keyhole-20260101T000000Z.pb.gz"), -1);
}

static void test_rotation__what_is_no_window(void **state)
{
	guard_fd int loose = make_window(100, F_SEAL_GROW);
	guard_fd int sealed = make_window(100, F_SEAL_SHRINK | F_SEAL_GROW);

	(void)state;
	assert_int_equal(rotation_keep(loose, 100, SUFFIX, NOW), -EPERM);
	assert_int_equal(rotation_keep(STDIN_FILENO, 100, SUFFIX, NOW), -EPERM);
	assert_int_equal(rotation_keep(sealed, WINDOW_FILE_MAX + 1, SUFFIX, NOW), -EFBIG);
	assert_int_equal(rotation_keep(sealed, 101, SUFFIX, NOW), -EBADMSG);
	assert_int_equal(count_files(), 0);
	assert_int_equal(rotation_keep(sealed, 50, SUFFIX, NOW), 0);
	assert_int_equal(size_of("keyhole-20270115T080000Z.pb.gz"), 50);
}

/* A link of that name leads nowhere: somebody else owns the folder. */
static void test_rotation__what_an_agent_left(void **state)
{
	(void)state;
	assert_int_equal(symlink("/etc/passwd", ".keyhole-window.tmp"), 0);
	assert_int_equal(keep(6, NOW), 0);
	assert_int_equal(size_of(".keyhole-window.tmp"), -1);
	assert_int_equal(size_of("keyhole-20270115T080000Z.pb.gz"), 6);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_rotation__##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_for_each_window), TEST(the_oldest_make_room), TEST(the_old_go),
		TEST(what_is_no_window),      TEST(what_an_agent_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

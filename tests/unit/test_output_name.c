/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/output_name.h"

int __wrap_renameat2(int from_folder, const char *from, int to_folder, const char *to,
		     unsigned int flags);
int __real_renameat2(int from_folder, const char *from, int to_folder, const char *to,
		     unsigned int flags);

static bool lacks_flags;     /* as some file systems do */
static mode_t comes_between; /* S_IFIFO: somebody replaces the name by a FIFO; 0: nobody does */

int __wrap_renameat2(int from_folder, const char *from, int to_folder, const char *to,
		     unsigned int flags)
{
	if (lacks_flags && flags) {
		errno = EINVAL;
		return -1;
	}
	if (comes_between) {
		unlink(to);
		assert_int_equal(mknod(to, comes_between | 0600, 0), 0);
		comes_between = 0;
	}
	return __real_renameat2(from_folder, from, to_folder, to, flags);
}

static void test_output_name__descriptors(void **state)
{
	static const struct {
		const char *path;
		int descriptor;
	} rows[] = {
		{"/dev/stdin", 0},
		{"/dev/stdout", 1},
		{"/dev/stderr", 2},
		{"/dev/fd/0", 0},
		{"/dev/fd/1", 1},
		{"/dev/fd/63", 63},
		{"/proc/self/fd/12", 12},
		{"/proc/thread-self/fd/1", 1},
		{"/dev/fd/2147483647", 2147483647},
		{"/dev/fd/2147483648", -1},
		{"/dev/fd/", -1},
		{"/dev/fd/1x", -1},
		{"/dev/fd/-1", -1},
		{"/dev/fd/1/x", -1},
		{"/dev/stdout/", -1},
		{"dev/stdout", -1},
		{"/proc/1/fd/1", -1},
		{"-", -1},
		{"", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(output_name_descriptor(rows[i].path), rows[i].descriptor);
}

/* In a folder of its own, which is gone afterwards. */
static int set_up(void **state)
{
	static char folder[] = "/tmp/keyhole-name-XXXXXX";

	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	*state = mkdtemp(folder);
	return *state ? chdir(folder) : -1;
}

static int tear_down(void **state)
{
	unlink("name");
	unlink("temporary");
	if (chdir("/"))
		return -1;
	return rmdir(*state);
}

static void refused(const char *name, int error, const char *why)
{
	for (int force = 0; force < 2; force++) {
		const char *problem = NULL;

		assert_int_equal(output_name_look(name, force, &problem), error);
		assert_non_null(strstr(problem, why));
		assert_non_null(strchr(problem, ';'));
	}
}

static void test_output_name__of_a_file(void **state)
{
	const char *problem = NULL;

	(void)state;
	assert_int_equal(output_name_look("name", false, &problem), 0);
	close(open("name", O_CREAT | O_WRONLY, 0600));
	assert_int_equal(output_name_look("name", true, &problem), 0);
	assert_int_equal(output_name_look("name", false, &problem), -EEXIST);
	assert_non_null(strstr(problem, "--force"));
}

static void test_output_name__of_what_is_never_replaced(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "name"};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	refused("name", -EINVAL, "a socket");
	close(fd);
	unlink("name");
	assert_int_equal(symlink("target", "name"), 0);
	refused("name", -ELOOP, "a symbolic link");
	refused("/dev/null", -EINVAL, "a device");
	refused("/", -EISDIR, "a folder");
	refused("/etc/passwd/x", -ENOTDIR, "Not a directory");
}

static void put(const char *name, const char *text)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void check_text(const char *name, const char *text)
{
	char got[16] = "";
	int fd = open(name, O_RDONLY);

	assert_int_equal(read(fd, got, sizeof(got) - 1), strlen(text));
	assert_string_equal(got, text);
	close(fd);
}

static void test_output_name__is_given(void **state)
{
	const char *problem = NULL;

	(void)state;
	for (int i = 0; i < 4; i++) {
		lacks_flags = i & 1;
		unlink("name");
		put("temporary", "new");
		assert_int_equal(output_name_give("temporary", "name", i & 2, &problem), 0);
		unlink("temporary");
		check_text("name", "new");
	}
	lacks_flags = false;
	put("temporary", "newer");
	assert_int_equal(output_name_give("temporary", "name", false, &problem), -EEXIST);
	check_text("name", "new");
	for (int i = 0; i < 2; i++) {
		lacks_flags = i;
		put("temporary", "newer");
		assert_int_equal(output_name_give("temporary", "name", true, &problem), 0);
		check_text("name", "newer");
	}
	lacks_flags = false;
	unlink("temporary");
	assert_int_equal(output_name_give("temporary", "none", true, &problem), -ENOENT);
	assert_non_null(strchr(problem, ';'));
}

/* A FIFO comes between the look at the name and the rename. */
static void test_output_name__is_not_taken_from_a_late_fifo(void **state)
{
	const char *problem = NULL;
	struct stat status;

	(void)state;
	for (int force = 0; force < 2; force++) {
		unlink("name");
		put("temporary", "new");
		if (force)
			put("name", "old");
		comes_between = S_IFIFO;
		assert_int_equal(output_name_give("temporary", "name", force, &problem), -EEXIST);
		assert_non_null(strchr(problem, ';'));
		assert_int_equal(lstat("name", &status), 0);
		assert_true(S_ISFIFO(status.st_mode));
		check_text("temporary", "new");
	}
}

static void test_output_name__of_a_fifo(void **state)
{
	const char *problem = NULL;
	int reader, fd;

	(void)state;
	assert_int_equal(mkfifo("name", 0600), 0);
	assert_int_equal(output_name_look("name", false, &problem), 1);
	assert_int_equal(output_name_look("name", true, &problem), 1);
	assert_int_equal(output_name_open_fifo("name", &problem), -ENXIO);
	assert_non_null(strstr(problem, "no process reads"));
	reader = open("name", O_RDONLY | O_NONBLOCK);
	fd = output_name_open_fifo("name", &problem);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK), O_WRONLY | O_NONBLOCK);
	close(fd);
	close(reader);
}

/* Opens a FIFO of the user 1234 that somebody reads. sudo: the value of SUDO_UID, or NULL. */
static int open_fifo_of_1234(const char *sudo, const char **ret_problem)
{
	int reader = open("name", O_RDONLY | O_NONBLOCK), fd;

	unsetenv("SUDO_UID");
	if (sudo)
		setenv("SUDO_UID", sudo, 1);
	fd = output_name_open_fifo("name", ret_problem);
	unsetenv("SUDO_UID");
	close(reader);
	if (fd >= 0)
		close(fd);
	return fd;
}

/* Another user's FIFO leads to another user's reader. */
static void test_output_name__of_a_fifo_of_another_user(void **state)
{
	const char *problem = NULL;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(mkfifo("name", 0600), 0);
	assert_int_equal(chown("name", 1234, 1234), 0);
	assert_int_equal(open_fifo_of_1234(NULL, &problem), -EPERM);
	assert_non_null(strstr(problem, "a FIFO of another user; "));
	assert_int_equal(open_fifo_of_1234("1235", &problem), -EPERM);
	assert_int_equal(open_fifo_of_1234("1234x", &problem), -EPERM);
	assert_true(open_fifo_of_1234("1234", &problem) >= 0);
}

/* A user who is not root has no sudo in between, whatever the environment says. */
static void test_output_name__sudo_counts_for_root_alone(void **state)
{
	const char *problem = NULL;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(".", 0777), 0);
	assert_int_equal(mkfifo("name", 0600), 0);
	assert_int_equal(chown("name", 1234, 1234), 0);
	assert_int_equal(chmod("name", 0666), 0);
	assert_int_equal(seteuid(1235), 0);
	assert_int_equal(open_fifo_of_1234("1234", &problem), -EPERM);
	assert_int_equal(seteuid(0), 0);
}

/* A file or link that came in place of the FIFO is not written to. */
static void test_output_name__of_a_fifo_that_was_replaced(void **state)
{
	const char *problem = NULL;

	(void)state;
	close(open("name", O_CREAT | O_WRONLY, 0600));
	assert_int_equal(output_name_open_fifo("name", &problem), -EINVAL);
	unlink("name");
	assert_int_equal(symlink("/dev/null", "name"), 0);
	assert_int_equal(output_name_open_fifo("name", &problem), -ELOOP);
}

static void test_output_name__folders(void **state)
{
	char problem[OUTPUT_NAME_PROBLEM], path[5000];

	(void)state;
	output_name_explain_folder("/none/a.pb.gz", -ENOENT, problem);
	assert_string_equal(problem, "folder /none does not exist; name another one: -o FILE");
	output_name_explain_folder("a/b/c", -EACCES, problem);
	assert_string_equal(problem, "folder a/b: Permission denied; name another one: -o FILE");
	output_name_explain_folder("/x", -EACCES, problem);
	assert_non_null(strstr(problem, "folder /: "));
	output_name_explain_folder("x", -EACCES, problem);
	assert_non_null(strstr(problem, "folder .: "));
	memset(path, 'a', sizeof(path));
	memcpy(path + sizeof(path) - 3, "/x", 3);
	output_name_explain_folder(path, -ENOENT, problem);
	assert_non_null(strstr(problem, "aaa does not exist; name"));
}

#define in_folder(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output_name__descriptors),
		in_folder(test_output_name__of_a_file),
		in_folder(test_output_name__of_what_is_never_replaced),
		in_folder(test_output_name__is_given),
		in_folder(test_output_name__is_not_taken_from_a_late_fifo),
		in_folder(test_output_name__of_a_fifo),
		in_folder(test_output_name__of_a_fifo_of_another_user),
		in_folder(test_output_name__sudo_counts_for_root_alone),
		in_folder(test_output_name__of_a_fifo_that_was_replaced),
		cmocka_unit_test(test_output_name__folders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

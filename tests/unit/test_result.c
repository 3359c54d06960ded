/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "view/result.h"

struct rig {
	char folder[64], path[128];
	struct result result;
};

static void rig_init(struct rig *rig)
{
	snprintf(rig->folder, sizeof(rig->folder), "/tmp/keyhole-result.XXXXXX");
	assert_non_null(mkdtemp(rig->folder));
	snprintf(rig->path, sizeof(rig->path), "%s/out", rig->folder);
}

/* Fails if anything else is left. */
static void rig_release(struct rig *rig)
{
	unlink(rig->path);
	assert_int_equal(rmdir(rig->folder), 0);
}

static char first_byte(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char byte = '\0';

	assert_true(fd >= 0);
	assert_int_equal(read(fd, &byte, 1), 1);
	close(fd);
	return byte;
}

static void make(struct rig *rig, bool force, const char *text)
{
	assert_int_equal(result_open(&rig->result, "test", rig->path, force), 0);
	assert_int_equal(write(rig->result.fd, text, strlen(text)), strlen(text));
	close(rig->result.fd);
}

static void test_result__appears_when_it_is_done(void **state)
{
	struct stat status;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	make(&rig, false, "a");
	assert_int_equal(access(rig.path, F_OK), -1);
	assert_int_equal(result_close(&rig.result, true), 0);
	assert_int_equal(first_byte(rig.path), 'a');
	assert_int_equal(stat(rig.path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	rig_release(&rig);
}

static void test_result__is_taken_away_when_it_is_not(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	make(&rig, false, "a");
	assert_int_equal(result_close(&rig.result, false), 0);
	assert_int_equal(access(rig.path, F_OK), -1);
	rig_release(&rig);
}

static void test_result__replaces_with_force_alone(void **state)
{
	struct rig rig, late;

	(void)state;
	rig_init(&rig);
	late = rig;
	make(&late, false, "b");
	make(&rig, false, "a");
	assert_int_equal(result_close(&rig.result, true), 0);
	assert_int_equal(result_close(&late.result, true), -EEXIST);
	assert_int_equal(result_open(&rig.result, "test", rig.path, false), -EINVAL);
	assert_int_equal(first_byte(rig.path), 'a');
	make(&rig, true, "c");
	assert_int_equal(result_close(&rig.result, true), 0);
	assert_int_equal(first_byte(rig.path), 'c');
	rig_release(&rig);
}

static void test_result__of_what_cannot_be(void **state)
{
	char path[RESULT_PATH_MAX + 1];
	struct result result;

	(void)state;
	memset(path, 'a', sizeof(path));
	path[RESULT_PATH_MAX] = '\0';
	assert_int_equal(result_open(&result, "test", path, true), -EINVAL);
	assert_int_equal(result_open(&result, "test", "/dev/null", true), -EINVAL);
	assert_int_equal(result_open(&result, "test", "/nonexistent/x", true), -EINVAL);
	assert_int_equal(result_close(&result, false), 0);
	assert_int_equal(result_open(&result, "test", "-", false), 0);
	assert_int_equal(result.fd, STDOUT_FILENO);
	assert_int_equal(result_close(&result, true), 0);
}

/* None of these is replaced, with or without force. */
static void test_result__leaves_what_is_no_file(void **state)
{
	const char *path = "test_result.link";
	struct result result;
	struct stat status;

	(void)state;
	unlink(path);
	assert_int_equal(symlink("test_result.target", path), 0);
	for (int force = 0; force < 2; force++) {
		assert_int_equal(result_open(&result, "test", path, force), -EINVAL);
		assert_int_equal(lstat(path, &status), 0);
		assert_true(S_ISLNK(status.st_mode));
	}
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(result_open(&result, "test", path, true), -EINVAL); /* nobody reads */
	unlink(path);
}

static void test_result__writes_to_a_fifo(void **state)
{
	const char *path = "test_result.fifo";
	struct result result;
	struct stat status;
	char got[8];
	int reader;

	(void)state;
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_int_equal(result_open(&result, "test", path, true), 0);
	assert_int_equal(fcntl(result.fd, F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(write(result.fd, "abc", 3), 3);
	assert_int_equal(result_close(&result, true), 0);
	assert_int_equal(read(reader, got, sizeof(got)), 3);
	assert_int_equal(lstat(path, &status), 0);
	assert_true(S_ISFIFO(status.st_mode));
	close(result.fd);
	close(reader);
	unlink(path);
}

static void test_result__of_a_descriptor(void **state)
{
	char path[32];
	struct result result;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	assert_int_equal(result_open(&result, "test", path, true), 0);
	assert_int_equal(result.fd, ends[1]);
	assert_int_equal(result_close(&result, true), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	assert_int_equal(result_open(&result, "test", path, true), -EINVAL);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(result_open(&result, "test", path, true), -EINVAL);
	assert_int_equal(result_open(&result, "test", "/dev/stdout", true), 0);
	assert_int_equal(result.fd, STDOUT_FILENO);
}

static int status_of(int exits, int signal)
{
	pid_t child = fork();

	if (child == 0) {
		raise(signal);
		_exit(exits);
	}
	return result_await("test", child, 7);
}

static void test_result__status_of_who_makes_it(void **state)
{
	(void)state;
	assert_int_equal(status_of(0, 0), 0);
	assert_int_equal(status_of(2, 0), 2);
	assert_int_equal(status_of(0, SIGKILL), 1);
	assert_int_equal(status_of(0, SIGXCPU), 1);
}

/* A process with an unfinished result, or its child, is ended by a signal. */
static int end_by(struct rig *rig, int signal_number, bool disown)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		make(rig, false, "a");
		if (disown)
			result_disown();
		raise(signal_number);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void test_result__is_taken_away_by_a_signal(void **state)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
	struct rig rig;

	(void)state;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		rig_init(&rig);
		assert_int_equal(end_by(&rig, signals[i], false), signals[i]);
		rig_release(&rig);
	}
}

static void test_result__is_not_a_childs(void **state)
{
	char pattern[160];
	struct rig rig;
	glob_t left;

	(void)state;
	rig_init(&rig);
	assert_int_equal(end_by(&rig, SIGTERM, true), SIGTERM);
	snprintf(pattern, sizeof(pattern), "%s.*", rig.path);
	assert_int_equal(glob(pattern, 0, NULL, &left), 0);
	assert_int_equal(left.gl_pathc, 1);
	unlink(left.gl_pathv[0]);
	globfree(&left);
	rig_release(&rig);
}

/* SIGHUP is ignored, as under nohup. */
static void test_result__of_a_signal_that_is_ignored(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	signal(SIGHUP, SIG_IGN);
	make(&rig, false, "a");
	raise(SIGHUP);
	assert_int_equal(result_close(&rig.result, true), 0);
	assert_int_equal(first_byte(rig.path), 'a');
	signal(SIGHUP, SIG_DFL);
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_result__appears_when_it_is_done),
		cmocka_unit_test(test_result__is_taken_away_when_it_is_not),
		cmocka_unit_test(test_result__replaces_with_force_alone),
		cmocka_unit_test(test_result__of_what_cannot_be),
		cmocka_unit_test(test_result__leaves_what_is_no_file),
		cmocka_unit_test(test_result__writes_to_a_fifo),
		cmocka_unit_test(test_result__of_a_descriptor),
		cmocka_unit_test(test_result__status_of_who_makes_it),
		cmocka_unit_test(test_result__is_taken_away_by_a_signal),
		cmocka_unit_test(test_result__is_not_a_childs),
		cmocka_unit_test(test_result__of_a_signal_that_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

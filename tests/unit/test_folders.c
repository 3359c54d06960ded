/* SPDX-License-Identifier: Apache-2.0 */
/* The files that are opened for a question, and the answer that is kept. The reader is a fake. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "view/symbolize/debug.h"
#include "view/symbolize/folders.h"
#include "tests/unit/build_answer.h"

/* ---- who reads ---- */

enum second { /* set in a run with dwz's file */
	SECOND_COMPLETE,
	SECOND_LATE,
	SECOND_NOTHING,
	SECOND_FAILS,
	SECOND_KILLED
};

static enum second second;

static void write_answer(int fd, const char *name, enum answer_status status, bool wants)
{
	if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) || build_answer(fd, name, status, wants))
		_exit(1);
}

struct told debug_read(const struct exchange *exchange, const struct ask *ask,
		       const struct debug_files *files)
{
	(void)ask;
	if (files->alternate < 0) {
		write_answer(exchange->answer, "of the first run", ANSWER_COMPLETE, true);
		return (struct told){0};
	}
	if (ftruncate(exchange->answer, 0))
		_exit(1);
	if (second == SECOND_COMPLETE)
		write_answer(exchange->answer, "of the second", ANSWER_COMPLETE, false);
	else if (second == SECOND_LATE)
		write_answer(exchange->answer, "of the second", ANSWER_TIME, false);
	return (struct told){.error = second == SECOND_FAILS ? -ENOMEM : 0,
			     .signal = second == SECOND_KILLED ? SIGKILL : 0};
}

/* ---- who asks ---- */

struct rig {
	char folder[64];
	struct exchange exchange;
	pid_t pid;
};

static void make_file(const struct rig *rig, const char *name)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", rig->folder, name);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs("something", file);
	fclose(file);
}

static void make_folder(const struct rig *rig, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", rig->folder, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static int set_up(void **state)
{
	static struct rig rig;

	snprintf(rig.folder, sizeof(rig.folder), "/tmp/keyhole-folders-XXXXXX");
	if (!mkdtemp(rig.folder))
		return -1;
	make_folder(&rig, ".build-id");
	make_folder(&rig, ".build-id/ab");
	make_file(&rig, ".build-id/ab/cd.debug");
	make_file(&rig, "object");
	*state = &rig;
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = {"object", ".build-id/ab/cd.debug", ".build-id/ab",
					    ".build-id", ""};
	const struct rig *rig = *state;
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", rig->folder, names[i]);
		remove(path);
	}
	return 0;
}

static struct told ask_of(struct rig *rig, const char *path)
{
	const struct folders folders = {.paths = {rig->folder}, .count = 1};
	static struct ask ask;
	struct told told;
	int pair[2], status;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	rig->exchange = (struct exchange){pair[0], -1, memfd_create("answer", MFD_CLOEXEC)};
	rig->pid = fork();
	if (rig->pid == 0) {
		close(pair[1]);
		_exit(-folders_serve(&folders, &rig->exchange));
	}
	close(pair[0]);
	ask = (struct ask){.count = 1, .id_size = 2, .id = {0x12, 0x34}};
	snprintf(ask.path, sizeof(ask.path), "%s", path);
	assert_int_equal(send(pair[1], &ask, sizeof(ask), MSG_NOSIGNAL), sizeof(ask));
	assert_int_equal(read(pair[1], &told, sizeof(told)), sizeof(told));
	close(pair[1]);
	assert_int_equal(waitpid(rig->pid, &status, 0), rig->pid);
	assert_int_equal(status, 0);
	return told;
}

static void assert_kept(struct rig *rig, enum second how, const char *expected)
{
	char path[128];
	struct told told;

	second = how;
	snprintf(path, sizeof(path), "%s/object", rig->folder);
	told = ask_of(rig, path);
	assert_int_equal(told.error, 0);
	assert_int_equal(told.signal, 0);
	build_answer_check(rig->exchange.answer, expected);
	close(rig->exchange.answer);
}

static void test_folders__only_a_better_answer_replaces_the_first(void **state)
{
	assert_kept(*state, SECOND_COMPLETE, "of the second");
	assert_kept(*state, SECOND_LATE, "of the first run");
	assert_kept(*state, SECOND_NOTHING, "of the first run");
	assert_kept(*state, SECOND_FAILS, "of the first run");
	assert_kept(*state, SECOND_KILLED, "of the first run");
}

static void test_folders__files_of_the_kernel_are_not_opened(void **state)
{
	static const char *const paths[] = {"/proc/kcore",
					    "/proc/config.gz",
					    "/proc/bus/pci/00/00.0",
					    "/sys/kernel/uevent_seqnum",
					    "/sys/kernel/notes",
					    "/dev/null",
					    "/"};
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_int_equal(ask_of(rig, paths[i]).error, -ENOENT);
		close(rig->exchange.answer);
	}
	/* a link to a file elsewhere */
	assert_int_equal(ask_of(rig, "/proc/self/exe").error, 0);
	close(rig->exchange.answer);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_folders__only_a_better_answer_replaces_the_first),
		TEST(test_folders__files_of_the_kernel_are_not_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* An object whose parts dwz moved is read twice. This program is also the one that reads. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/output/debug_files.h"
#include "helper/output/dwarf.h"
#include "ipc/messages.h"
#include "tests/unit/build_answer.h"
#include "object/dwarf/child.h"

/* ---- the program ---- */

enum second { /* run, with the file of dwz: the address that is asked for */
	SECOND_COMPLETE,
	SECOND_LATE,
	SECOND_NOTHING,
	SECOND_FAILS,
	SECOND_KILLED
};

static int read_object(char **argv)
{
	uint64_t how;

	if (pread(CHILD_ADDRESSES, &how, sizeof(how), 0) != sizeof(how))
		return EIO;
	if (strcmp(argv[4], "0") == 0)
		return -build_answer(CHILD_ANSWER, "of the first run", ANSWER_COMPLETE, true);
	switch ((enum second)how) {
	case SECOND_COMPLETE:
		return -build_answer(CHILD_ANSWER, "of the second", ANSWER_COMPLETE, false);
	case SECOND_LATE:
		return -build_answer(CHILD_ANSWER, "of the second", ANSWER_TIME, false);
	case SECOND_FAILS:
		return ENOMEM;
	case SECOND_KILLED:
		return raise(SIGKILL);
	default:
		return 0;
	}
}

/* ---- who starts it ---- */

static char folder[] = "/tmp/keyhole-alternate-XXXXXX";
static const char *const places[] = {"", "/.build-id", "/.build-id/ab", "/.build-id/ab/cd.debug"};

static int set_up(void **state)
{
	char path[128];
	int fd = -1;

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	for (size_t i = 1; i < 4; i++) {
		snprintf(path, sizeof(path), "%s%s", folder, places[i]);
		fd = i < 3 ? mkdir(path, 0700) : open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	}
	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	char path[128];

	(void)state;
	for (size_t i = 4; i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", folder, places[i]);
		remove(path);
	}
	return 0;
}

static int own_file(int flags)
{
	return open("/proc/self/exe", flags | O_CLOEXEC);
}

static int answer_of(uint64_t how)
{
	const struct debug_folders folders = {
		.fd = {open(folder, O_PATH | O_CLOEXEC)}, .count = 1, .program = own_file(O_PATH)};
	const struct message_lines question = {1, 4000};
	int addresses = memfd_create("addresses", MFD_CLOEXEC), r;
	struct dwarf dwarf = {.count = 0};

	assert_int_equal(write(addresses, &how, sizeof(how)), sizeof(how));
	assert_int_equal(dwarf_add_file(&dwarf, own_file(O_RDONLY)), 0);
	r = dwarf_answer(&dwarf, &folders, &question, addresses);
	close(folders.fd[0]);
	close(folders.program);
	return r;
}

static void assert_kept(enum second how, const char *expected)
{
	int fd = answer_of(how);

	assert_true(fd >= 0);
	build_answer_check(fd, expected);
	close(fd);
}

static void test_dwarf_alternate__only_a_better_answer_replaces_the_first(void **state)
{
	(void)state;
	assert_kept(SECOND_COMPLETE, "of the second");
	assert_kept(SECOND_LATE, "of the first run");
	assert_kept(SECOND_NOTHING, "of the first run");
	assert_kept(SECOND_FAILS, "of the first run");
	assert_kept(SECOND_KILLED, "of the first run");
}

/* As a shell may be. */
static void test_dwarf_alternate__few_descriptors_are_enough(void **state)
{
	struct rlimit limit, few;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){128, limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_kept(SECOND_COMPLETE, "of the second");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dwarf_alternate__only_a_better_answer_replaces_the_first),
		cmocka_unit_test(test_dwarf_alternate__few_descriptors_are_enough),
	};

	if (argc == CHILD_ARGUMENTS && strcmp(argv[0], CHILD_NAME) == 0)
		return read_object(argv);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of files for a question, and of the answer that is kept, for a worker and for a
 * viewer. This program is also the reader that the service starts.
 */
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
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "object/debug/ask.h"
#include "object/debug/folders.h"
#include "object/debug/service.h"
#include "tests/unit/build_answer.h"

/* ---- the program ---- */

enum second { /* result of the second run, with dwz's file; the address in the question */
	SECOND_COMPLETE,
	SECOND_LATE,
	SECOND_NOTHING,
	SECOND_FAILS,
	SECOND_KILLED
};

static int read_object(char **argv)
{
	uint64_t how;

	if (pread(READER_ADDRESSES, &how, sizeof(how), 0) != sizeof(how))
		return EIO;
	if (strcmp(argv[5], "0") == 0)
		return -build_answer(READER_ANSWER, "of the first run", ANSWER_COMPLETE, true);
	switch ((enum second)how) {
	case SECOND_COMPLETE:
		return -build_answer(READER_ANSWER, "of the second", ANSWER_COMPLETE, false);
	case SECOND_LATE:
		return -build_answer(READER_ANSWER, "of the second", ANSWER_TIME, false);
	case SECOND_FAILS:
		return ENOMEM;
	case SECOND_KILLED:
		return raise(SIGKILL);
	default:
		return 0;
	}
}

/* ---- the folder ---- */

static char folder[64];
static const char *const places[] = {"", "/.build-id", "/.build-id/ab", "/.build-id/ab/cd.debug",
				     "/object"};

static int set_up(void **state)
{
	char path[128];
	int fd = -1;

	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/keyhole-service-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	for (size_t i = 1; i < 5; i++) {
		snprintf(path, sizeof(path), "%s%s", folder, places[i]);
		fd = i < 3 ? mkdir(path, 0700) : open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		if (i >= 3)
			close(fd);
	}
	return fd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	char path[128];

	(void)state;
	for (size_t i = 5; i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", folder, places[i]);
		remove(path);
	}
	return 0;
}

static int own_file(int flags)
{
	return open("/proc/self/exe", flags | O_CLOEXEC);
}

/* ---- the asker ---- */

struct rig {
	struct channel channel;
	pid_t pid;
};

static void serve(enum message_party asker, int fd)
{
	struct debug_folders folders = {.links = asker == PARTY_WORKER ? DEBUG_LINKS_BELOW
								       : DEBUG_LINKS_ANYWHERE};
	struct debug_service service;
	struct channel channel;

	if (debug_folders_add(&folders, folder))
		_exit(1);
	channel_init(&channel, fd, PARTY_DEBUG, asker);
	channel.phase = PHASE_RUN;
	debug_service_init(&service, asker == PARTY_WORKER ? READER_RECORDING : READER_PROFILE,
			   &folders, own_file(O_PATH));
	_exit(-debug_service_run(&service, &channel));
}

static void open_service(struct rig *rig, enum message_party asker)
{
	int fds[2];

	assert_int_equal(channel_pair(fds), 0);
	rig->pid = fork();
	if (rig->pid == 0) {
		close(fds[0]);
		serve(asker, fds[1]);
	}
	close(fds[1]);
	channel_init(&rig->channel, fds[0], asker, PARTY_DEBUG);
	rig->channel.phase = PHASE_RUN;
}

/* Returns the status with which the service ended. */
static int close_service(struct rig *rig)
{
	int status;

	channel_release(&rig->channel);
	assert_int_equal(waitpid(rig->pid, &status, 0), rig->pid);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

static int name_object(struct rig *rig, const char *path)
{
	struct message_lines_object object = {.id_size = 2, .id = {0x12, 0x34}};

	snprintf(object.path, sizeof(object.path), "%s", path);
	return channel_send(&rig->channel, MESSAGE_LINES_OBJECT, &object, sizeof(object), -1);
}

static int give_file(struct rig *rig, int fd)
{
	int r = channel_send_bare(&rig->channel, MESSAGE_LINES_FILE, fd);

	close(fd);
	return r;
}

/* Asks a question. `how`, an enum second, is sent as the address. */
static int ask(struct rig *rig, uint64_t how, int answer)
{
	const struct message_lines question = {.count = 1, .milliseconds = 4000};
	int addresses = memfd_create("addresses", MFD_CLOEXEC), r;

	assert_int_equal(write(addresses, &how, sizeof(how)), sizeof(how));
	r = debug_ask(&rig->channel, &question, addresses, answer, 8000);
	close(addresses);
	return r;
}

static int new_answer(void)
{
	return memfd_create("answer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

/* Asks one question about an existing file and checks which answer is kept. */
static void assert_kept(enum message_party asker, enum second how, const char *expected)
{
	char path[128];
	int answer = new_answer();
	struct rig rig;

	open_service(&rig, asker);
	snprintf(path, sizeof(path), "%s/object", folder);
	assert_int_equal(asker == PARTY_WORKER ? give_file(&rig, own_file(O_RDONLY))
					       : name_object(&rig, path),
			 0);
	assert_int_equal(ask(&rig, how, answer), 0);
	build_answer_check(answer, expected);
	close(answer);
	assert_int_equal(close_service(&rig), -EPIPE);
}

static void test_debug_service__only_a_better_answer_replaces_the_first(void **state)
{
	static const enum message_party askers[] = {PARTY_WORKER, PARTY_VIEWER};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_kept(askers[i], SECOND_COMPLETE, "of the second");
		assert_kept(askers[i], SECOND_LATE, "of the first run");
		assert_kept(askers[i], SECOND_NOTHING, "of the first run");
		assert_kept(askers[i], SECOND_FAILS, "of the first run");
		assert_kept(askers[i], SECOND_KILLED, "of the first run");
	}
}

static void test_debug_service__files_of_the_kernel_are_not_opened(void **state)
{
	static const char *const paths[] = {"/proc/kcore",
					    "/proc/config.gz",
					    "/proc/bus/pci/00/00.0",
					    "/sys/kernel/uevent_seqnum",
					    "/sys/kernel/notes",
					    "/dev/null",
					    "/",
					    "",
					    "object"};
	int answer = new_answer();
	struct rig rig;

	(void)state;
	open_service(&rig, PARTY_VIEWER);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_int_equal(name_object(&rig, paths[i]), 0);
		assert_int_equal(ask(&rig, 0, answer), -ENOENT);
	}
	/* a link in the folder to a file elsewhere */
	assert_int_equal(name_object(&rig, "/proc/self/exe"), 0);
	assert_int_equal(ask(&rig, 0, answer), 0);
	close(answer);
	assert_int_equal(close_service(&rig), -EPIPE);
}

/* A descriptor that the asker can only read must not become one that the reader writes to. */
static void test_debug_service__answers_go_to_writable_memfds_only(void **state)
{
	char path[128];
	int answers[5], readable[2];
	struct rig rig;

	(void)state;
	snprintf(path, sizeof(path), "%s/object", folder);
	assert_int_equal(pipe(readable), 0);
	answers[0] = open(path, O_RDONLY | O_CLOEXEC);
	answers[1] = open(path, O_RDWR | O_CLOEXEC);
	answers[2] = readable[0];
	answers[3] = new_answer();
	assert_int_equal(fcntl(answers[3], F_ADD_SEALS, F_SEAL_GROW), 0);
	answers[4] = new_answer();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", answers[4]);
	close(answers[3]);
	answers[3] = open(path, O_RDONLY | O_CLOEXEC);
	open_service(&rig, PARTY_WORKER);
	for (size_t i = 0; i < 4; i++) {
		if (i == 1 && fcntl(answers[1], F_GET_SEALS) >= 0)
			continue; /* on a tmpfs a file is as good as a memfd */
		assert_int_equal(give_file(&rig, own_file(O_RDONLY)), 0);
		assert_int_equal(ask(&rig, 0, answers[i]), -EACCES);
	}
	assert_int_equal(fcntl(answers[4], F_ADD_SEALS, F_SEAL_GROW), 0);
	assert_int_equal(give_file(&rig, own_file(O_RDONLY)), 0);
	assert_int_equal(ask(&rig, 0, answers[4]), -EACCES);
	assert_int_equal(close_service(&rig), -EPIPE);
	for (size_t i = 0; i < 5; i++)
		close(answers[i]);
	close(readable[1]);
}

static void test_debug_service__broken_rules_end_it(void **state)
{
	struct message_lines_object object = {.id_size = LINES_ID_MAX + 1};
	struct message message;
	struct rig rig;

	(void)state;
	open_service(&rig, PARTY_VIEWER);
	channel_send(&rig.channel, MESSAGE_LINES_OBJECT, &object, sizeof(object), -1);
	assert_int_equal(channel_wait(&rig.channel, 5000, &message), -EPIPE);
	assert_int_equal(close_service(&rig), -EPROTO);
	open_service(&rig, PARTY_VIEWER);
	memset(&object, 'a', sizeof(object));
	object.id_size = 2;
	channel_send(&rig.channel, MESSAGE_LINES_OBJECT, &object, sizeof(object), -1);
	assert_int_equal(channel_wait(&rig.channel, 5000, &message), -EPIPE);
	assert_int_equal(close_service(&rig), -EPROTO);
	/* a viewer has no files, a worker no paths */
	open_service(&rig, PARTY_VIEWER);
	assert_int_equal(give_file(&rig, own_file(O_RDONLY)), -EINVAL);
	close_service(&rig);
	open_service(&rig, PARTY_WORKER);
	assert_int_equal(name_object(&rig, "/proc/self/exe"), -EINVAL);
	close_service(&rig);
}

/* A shell may have set a low limit. */
static void test_debug_service__few_descriptors_are_enough(void **state)
{
	struct rlimit limit, few;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){128, limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_kept(PARTY_WORKER, SECOND_COMPLETE, "of the second");
	assert_kept(PARTY_VIEWER, SECOND_COMPLETE, "of the second");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_debug_service__only_a_better_answer_replaces_the_first),
		cmocka_unit_test(test_debug_service__few_descriptors_are_enough),
		cmocka_unit_test(test_debug_service__files_of_the_kernel_are_not_opened),
		cmocka_unit_test(test_debug_service__answers_go_to_writable_memfds_only),
		cmocka_unit_test(test_debug_service__broken_rules_end_it),
	};

	if (argc == READER_ARGUMENTS && strcmp(argv[0], READER_PROGRAM) == 0)
		return read_object(argv);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

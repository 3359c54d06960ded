/* SPDX-License-Identifier: Apache-2.0 */
/* A worker can have lines of its own files, in bounded time, and no more. */
#include "loader/user.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/time.h"
#include "tests/privsep/privsep.h"
#include "object/dwarf/answer.h"
#include "object/debug/reader.h"

extern const char __ehdr_start;

struct rig {
	struct output output;
	struct channel debug; /* as the worker has it */
	int answer;	      /* of the last question; owned */
};

static int set_up_for(const struct policy_user *user, void **state)
{
	static struct rig rig = {.answer = -1};
	int fds[2];

	if (output_start(&rig.output, OUTPUT_VERB_WRITE, "-", NULL, user) || channel_pair(fds))
		return -1;
	channel_init(&rig.debug, fds[0], PARTY_WORKER, PARTY_DEBUG);
	rig.debug.phase = PHASE_RUN;
	*state = &rig;
	if (channel_send_bare(&rig.output.channel, MESSAGE_DEBUG_PEER, fds[1]))
		return -1;
	close(fds[1]);
	return 0;
}

static int set_up(void **state)
{
	return set_up_for(&(const struct policy_user){0, 0, NULL}, state);
}

static int set_up_user(void **state)
{
	return set_up_for(&(const struct policy_user){USER_ID, GROUP_ID, NULL}, state);
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	channel_release(&rig->debug);
	output_abandon(&rig->output);
	return 0;
}

static int own_file(void)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

/* Writes so many equal addresses, of main() of the test. */
int main(void);
static int own_addresses(size_t count)
{
	const uint64_t address = (uint64_t)(uintptr_t)main - (uint64_t)(uintptr_t)&__ehdr_start;
	uint64_t *addresses = calloc(count, sizeof(*addresses));
	int fd = memfd_create("addresses", MFD_CLOEXEC);

	for (size_t i = 0; i < count; i++)
		addresses[i] = address;
	assert_int_equal(write(fd, addresses, count * sizeof(*addresses)),
			 count * sizeof(*addresses));
	free(addresses);
	return fd;
}

static void give_file(struct rig *rig, int fd)
{
	assert_true(fd >= 0);
	assert_int_equal(channel_send_bare(&rig->debug, MESSAGE_LINES_FILE, fd), 0);
	close(fd);
}

static void send_question(struct rig *rig, int addresses, uint32_t count, uint32_t milliseconds)
{
	const struct message_lines question = {count, milliseconds};

	close(rig->answer);
	rig->answer = memfd_create("answer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(channel_send_bare(&rig->debug, MESSAGE_LINES_ANSWER, rig->answer), 0);
	assert_int_equal(
		channel_send(&rig->debug, MESSAGE_LINES, &question, sizeof(question), addresses),
		0);
	close(addresses);
}

/* Returns the error of the answer, or 0. */
static int take_reply(struct rig *rig)
{
	struct message message;

	assert_int_equal(channel_expect(&rig->debug, MESSAGE_LINES_REPLY, 8000, &message), 0);
	return message.LINES_REPLY.error;
}

static int ask(struct rig *rig, int file, int addresses, uint32_t count, uint32_t milliseconds)
{
	if (file >= 0)
		give_file(rig, file);
	send_question(rig, addresses, count, milliseconds);
	return take_reply(rig);
}

static struct answer *read_answer(int fd, size_t addresses)
{
	static unsigned char bytes[1 << 16];
	struct answer *answer = NULL;
	ssize_t size;

	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_SEAL), 0);
	size = pread(fd, bytes, sizeof(bytes), 0);
	assert_int_equal(answer_read(bytes, (size_t)size, addresses, &answer), 0);
	return answer;
}

static void assert_answers(struct rig *rig)
{
	const struct answer_frame *frames;
	const struct answer_function *function;
	struct answer *answer;
	size_t count;

	assert_int_equal(ask(rig, own_file(), own_addresses(1), 1, 1500), 0);
	answer = read_answer(rig->answer, 1);
	count = answer_get(answer, 0, &frames);
	assert_true(count > 0);
	function = answer_function_get(answer, frames[count - 1].function);
	assert_string_equal(answer_string_get(answer, function->name), "main");
	assert_non_null(strstr(answer_string_get(answer, function->file), "test_dwarf.c"));
	assert_true(frames[count - 1].line > 0);
	answer_free(answer);
}

static void test_dwarf__answers(void **state)
{
	assert_answers(*state);
}

static void test_dwarf__bad_questions_are_refused(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(ask(rig, -1, own_addresses(1), 1, 1000), -EINVAL);
	assert_int_equal(ask(rig, own_file(), own_addresses(1), 0, 1000), -EINVAL);
	assert_int_equal(ask(rig, own_file(), own_addresses(1),
			     reader_limits[READER_RECORDING].addresses + 1, 1000),
			 -EINVAL);
	assert_int_equal(ask(rig, own_file(), own_addresses(1), 1,
			     reader_limits[READER_RECORDING].milliseconds + 1),
			 -EINVAL);
	assert_int_equal(ask(rig, own_file(), own_addresses(1), UINT32_MAX, UINT32_MAX), -EINVAL);
	assert_int_equal(ask(rig, own_file(), own_addresses(1), 1,
			     reader_limits[READER_RECORDING].total + 1),
			 -ETIME);
	/* more than there are */
	assert_int_equal(ask(rig, own_file(), own_addresses(1), 2, 1000), -EIO);
	/* no files of one question in the next */
	assert_int_equal(ask(rig, -1, own_addresses(1), 1, 1000), -EINVAL);
	assert_answers(rig);
}

static int a_pipe(void)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	close(fds[1]);
	return fds[0];
}

static int a_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

/* Sends a descriptor as file and as addresses. */
static void assert_refused(struct rig *rig, int fd)
{
	int again = dup(fd);

	assert_true(again >= 0);
	assert_int_equal(ask(rig, fd, own_addresses(1), 1, 500), -EACCES);
	assert_int_equal(ask(rig, own_file(), again, 1, 500), -EACCES);
}

static void test_dwarf__descriptors_of_any_kind(void **state)
{
	struct rig *rig = *state;
	static const char *const paths[] = {"/", "/dev/null", "/dev/zero", "/proc/self/mem",
					    "/proc/self/maps"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		assert_refused(rig, open(paths[i], O_RDONLY));
	assert_refused(rig, a_pipe());
	assert_refused(rig, a_socket());
	assert_refused(rig, epoll_create1(EPOLL_CLOEXEC)); /* as those of BPF and perf */
	/* one of two */
	give_file(rig, own_file());
	assert_int_equal(ask(rig, a_pipe(), own_addresses(1), 1, 500), -EACCES);
	assert_answers(rig);
}

/* The file is open for writing too, and deleted. */
static int a_file(mode_t mode, uid_t owner)
{
	char path[] = "/tmp/keyhole-dwarf-XXXXXX";
	int fd = mkstemp(path);

	assert_int_equal(unlink(path), 0);
	assert_int_equal(write(fd, path, sizeof(path)), sizeof(path));
	assert_int_equal(fchown(fd, owner, 0), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	return fd;
}

/* The program may lie where this user cannot reach it. */
static void assert_taken(struct rig *rig, int fd)
{
	int said = ask(rig, fd, own_addresses(1), 1, 500);

	assert_true(said == 0 || said == -ENOENT);
}

static void test_dwarf__too_many_files_end_it(void **state)
{
	struct rig *rig = *state;
	struct message message;

	for (int i = 0; i <= (int)reader_limits[READER_RECORDING].files; i++)
		give_file(rig, own_file());
	assert_int_equal(channel_wait(&rig->debug, 5000, &message), -EPIPE);
}

static void test_dwarf__too_many_questions(void **state)
{
	struct rig *rig = *state;

	for (int i = 0; i < (int)reader_limits[READER_RECORDING].questions; i++)
		assert_int_equal(ask(rig, -1, own_addresses(1), 1, 1000), -EINVAL);
	assert_int_equal(ask(rig, own_file(), own_addresses(1), 1, 1000), -E2BIG);
}

/* ---- the process that reads ---- */

static pid_t child_of(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "re");
	if (file && fscanf(file, "%d", &child) != 1)
		child = 0;
	if (file)
		fclose(file);
	return child;
}

static bool is_program(pid_t pid)
{
	char path[64], text[sizeof(READER_PROGRAM)] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof(text)) < 0)
		text[0] = '\0';
	close(fd);
	return strcmp(text, READER_PROGRAM) == 0;
}

/* Waits for the confined reader, which reads for longer than this look takes. */
static pid_t stop_reader(pid_t debug)
{
	pid_t pid = 0;

	for (uint64_t until = time_now() + 3 * NS_PER_SECOND; time_now() < until;) {
		pid = child_of(debug);
		if (pid > 0 && is_program(pid) && privsep_status(pid, "Seccomp", 10) == 2) {
			kill(pid, SIGSTOP);
			return pid;
		}
	}
	return 0;
}

static bool has_descriptor(pid_t pid, int number)
{
	char path[64], to[8];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, number);
	return readlink(path, to, sizeof(to)) > 0;
}

static void check_descriptors(pid_t pid)
{
	for (int fd = 0; fd < 1024; fd++)
		assert_int_equal(has_descriptor(pid, fd),
				 fd >= READER_ADDRESSES && fd <= READER_FILES);
}

static void check_rights(pid_t pid, uid_t user, unsigned int seccomp)
{
	assert_int_equal(privsep_status(pid, "Uid", 10), user);
	assert_int_equal(privsep_status(pid, "CapPrm", 16), 0);
	assert_int_equal(privsep_status(pid, "CapEff", 16), 0);
	assert_int_equal(privsep_status(pid, "NoNewPrivs", 10), 1);
	assert_int_equal(privsep_status(pid, "Seccomp", 10), seccomp);
}

static void test_dwarf__what_the_user_may_not_open(void **state)
{
	struct rig *rig = *state;

	assert_refused(rig, a_file(0600, 0));
	assert_refused(rig, a_file(0660, 0));
	assert_refused(rig, a_file(0700, USER_ID + 1));
	assert_refused(rig, a_pipe());
	assert_refused(rig, a_socket());
	assert_refused(rig, open("/proc/self/maps", O_RDONLY));
	assert_taken(rig, a_file(0604, 0));
	assert_taken(rig, a_file(0400, USER_ID));
	assert_taken(rig, own_file());
	check_rights(child_of(rig->output.pid), USER_ID, 0);
}

static void test_dwarf__one_that_hangs_is_ended(void **state)
{
	struct rig *rig = *state;
	const uint32_t milliseconds = 700;
	uint64_t began;
	pid_t pid;

	assert_answers(rig); /* so that keyhole-debug is there */
	give_file(rig, own_file());
	began = time_now();
	send_question(rig, own_addresses(reader_limits[READER_RECORDING].addresses),
		      reader_limits[READER_RECORDING].addresses, milliseconds);
	pid = stop_reader(child_of(rig->output.pid));
	assert_true(pid > 0);
	check_descriptors(pid);
	check_rights(pid, 0, 2);
	check_rights(child_of(rig->output.pid), 0, 0);
	assert_int_equal(take_reply(rig), -ETIME);
	assert_in_range(time_now() - began, milliseconds * NS_PER_MS, 3 * NS_PER_SECOND);
	assert_int_equal(kill(pid, 0), -1);
	assert_answers(rig);
}

static void test_dwarf__ends_with_its_worker(void **state)
{
	struct rig *rig = *state;
	pid_t debug, pid;

	assert_answers(rig);
	debug = child_of(rig->output.pid);
	assert_true(debug > 0);
	give_file(rig, own_file());
	send_question(rig, own_addresses(reader_limits[READER_RECORDING].addresses),
		      reader_limits[READER_RECORDING].addresses, 4000);
	pid = stop_reader(debug);
	assert_true(pid > 0);
	/* the reader ends with its parent */
	kill(debug, SIGKILL);
	assert_true(privsep_gone(pid));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_dwarf__answers),
		TEST(test_dwarf__bad_questions_are_refused),
		TEST(test_dwarf__descriptors_of_any_kind),
		cmocka_unit_test_setup_teardown(test_dwarf__what_the_user_may_not_open, set_up_user,
						tear_down),
		TEST(test_dwarf__too_many_files_end_it),
		TEST(test_dwarf__too_many_questions),
		TEST(test_dwarf__one_that_hangs_is_ended),
		TEST(test_dwarf__ends_with_its_worker),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, privsep_link_programs, NULL);
}

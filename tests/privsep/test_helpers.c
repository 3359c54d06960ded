/* SPDX-License-Identifier: Apache-2.0 */
/* The helpers, started and asked as the loader does it. */
#include "loader/kernel_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ksyms_file.h"
#include "loader/helper.h"
#include "loader/options.h"
#include "policy/policy_impl.h"
#include "tests/privsep/privsep.h"

static struct ksyms ksyms;

static void test_helpers__kernel_symbols_of_this_machine(void **state)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	struct ksyms_file_head head;

	(void)state;
	assert_int_equal(ksyms_start(&ksyms, policy_proc()), 0);
	assert_true(ksyms.count >= 1);
	assert_int_equal(ksyms_wait(&ksyms), 0);
	assert_true(ksyms.ranges[0].start < ksyms.ranges[0].end);
	for (uint32_t i = 2; i < ksyms.count; i++)
		assert_true(ksyms.ranges[i - 1].end <= ksyms.ranges[i].start);
	assert_int_equal(fcntl(ksyms.fd, F_GET_SEALS), seals);
	assert_int_equal(pread(ksyms.fd, &head, sizeof(head), 0), sizeof(head));
	/* ranges that are told, but not needed, are empty */
	assert_in_range(head.ranges, ksyms.count - KSYMS_BPF_PARTS_MAX, ksyms.count);
	for (uint32_t i = head.ranges; i < ksyms.count; i++)
		assert_true(ksyms.ranges[i].start == UINT64_MAX &&
			    ksyms.ranges[i].end == UINT64_MAX);
	assert_true(head.symbols > 10000);
	assert_true(privsep_gone(ksyms.pid));
	close(ksyms.fd);
}

/* The helper waits for the second file. */
static void test_helpers__kernel_symbols_are_read_without_rights(void **state)
{
	const char *const argv[] = {"keyhole-kernel-symbols", NULL};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct channel channel;
	struct message message;
	pid_t pid = helper_start(PARTY_KERNEL_SYMBOLS, argv, NULL, &channel);

	(void)state;
	assert_true(pid > 0);
	assert_int_equal(channel_send_bare(&channel, MESSAGE_KERNEL_FILE, null), 0);
	assert_int_equal(channel_expect(&channel, MESSAGE_RANGES, 10000, &message), 0);
	assert_int_equal(message.RANGES.count, 1 + KSYMS_BPF_PARTS_MAX);
	message_release(&message);
	privsep_assert_no_rights(pid);
	assert_int_equal(privsep_count_fds(pid), 3 + 1 + 1 + 1); /* channel, file, ranges */
	channel_release(&channel);
	assert_true(privsep_gone(pid));
	close(null);
}

/* Standard output is a full pipe, so the helper waits while it prints the help. */
static void test_helpers__the_command_line_is_read_without_rights(void **state)
{
	static char bytes[65536];
	const char *const argv[] = {"keyhole", "help", NULL};
	int ends[2], saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
	struct channel channel;
	struct message message;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], bytes, sizeof(bytes)), sizeof(bytes));
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	pid = helper_start(PARTY_OPTIONS, argv, NULL, &channel);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	assert_true(pid > 0);
	assert_int_equal(channel_wait(&channel, 200, &message), -ETIMEDOUT);
	privsep_assert_no_rights(pid);
	assert_int_equal(privsep_count_fds(pid), 3 + 1);
	assert_int_equal(read(ends[0], bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(channel_expect(&channel, MESSAGE_OPTIONS, 10000, &message), 0);
	assert_int_equal(message.OPTIONS.status, EXIT_DONE);
	assert_true(read(ends[0], bytes, sizeof(bytes)) > 1000);
	channel_release(&channel);
	assert_true(privsep_gone(pid));
	close(ends[0]);
}

static void test_helpers__the_command_line_as_the_loader_gets_it(void **state)
{
	char *argv[] = {
		(char[]){"keyhole"}, (char[]){"record"}, (char[]){"-vF7"}, (char[]){"-oa.folded"},
		(char[]){"--"},	     (char[]){"ls"},	 (char[]){"-a"},   NULL};
	struct options options;

	(void)state;
	while (waitpid(-1, NULL, WNOHANG) > 0) /* of other tests */
		;
	assert_int_equal(options_read(7, argv, &options), OPTIONS_RECORD);
	assert_int_equal(options.given.sampling.frequency, 7);
	assert_int_equal(options.given.format, FORMAT_folded);
	assert_true(options.given.flags & OPTIONS_VERBOSE);
	assert_ptr_equal(options.output, argv[3] + 2);
	assert_ptr_equal(options.command, argv + 5);
	argv[4] = argv[3];
	assert_int_equal(options_read(7, argv, &options), EXIT_USAGE);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* none is left */
}

/* "keyhole record OPTION VALUE", from the process that this one is now. */
static int read_options(const char *option, const char *value)
{
	char *argv[] = {(char[]){"keyhole"}, (char[]){"record"}, (char *)(uintptr_t)option,
			(char *)(uintptr_t)value, NULL};
	struct options options;

	return options_read(4, argv, &options);
}

static int read_pid(pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	return read_options("-p", text);
}

static void *give_id(void *ends)
{
	pid_t id = gettid();
	char byte;

	assert_int_equal(write(((int *)ends)[1], &id, sizeof(id)), sizeof(id));
	assert_int_equal(read(((int *)ends)[2], &byte, 1), 0);
	return NULL;
}

static void test_helpers__a_process_must_exist_and_be_one(void **state)
{
	pid_t pid = fork();
	pthread_t thread;
	int ends[4];

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(read_pid(pid), OPTIONS_RECORD); /* nobody has waited for it */
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(read_pid(pid), EXIT_USAGE);
	assert_true(pipe2(ends, O_CLOEXEC) == 0 && pipe2(ends + 2, O_CLOEXEC) == 0);
	assert_int_equal(pthread_create(&thread, NULL, give_id, ends), 0);
	assert_int_equal(read(ends[0], &pid, sizeof(pid)), sizeof(pid));
	assert_int_equal(read_pid(pid), EXIT_USAGE);
	close(ends[3]);
	pthread_join(thread, NULL);
	for (int i = 0; i < 3; i++)
		close(ends[i]);
}

/* The loader opens files that the helper may not look at. */
static void test_helpers__a_cgroup_must_be_one_where_it_can_be_seen(void **state)
{
	char folder[] = "/tmp/keyhole-test-XXXXXX", inside[64];

	(void)state;
	assert_int_equal(read_options("--cgroup", "/dev/null"), EXIT_USAGE);
	assert_int_equal(read_options("--cgroup", "/nonexistent"), EXIT_USAGE);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(read_options("--cgroup", folder), EXIT_USAGE);
	snprintf(inside, sizeof(inside), "%s/group", folder);
	assert_int_equal(read_options("--cgroup", inside), OPTIONS_RECORD);
	rmdir(folder);
}

/* The question is about the loader's capabilities; the helper never has any. */
static void test_helpers__a_capability_that_is_missing_is_told(void **state)
{
	static const cap_value_t missing[] = {CAP_BPF, CAP_SETPCAP, CAP_DAC_READ_SEARCH};

	(void)state;
	for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			cap_t held = cap_get_proc();

			cap_set_flag(held, CAP_EFFECTIVE, 1, &missing[i], CAP_CLEAR);
			_exit(cap_set_proc(held) ? 1 : read_options("-d", "1"));
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_RIGHTS);
	}
}

/* keyhole-rules waits for the file, behind its filter. */
static void test_helpers__the_policy_is_read_without_rights(void **state)
{
	const char *const argv[] = {"keyhole-rules", "record", "file", NULL};
	struct channel channel;
	pid_t pid = helper_start(PARTY_RULES, argv, NULL, &channel);

	(void)state;
	assert_true(pid > 0);
	for (int i = 0; i < 1000 && privsep_status(pid, "Seccomp", 10) != 2; i++)
		usleep(1000);
	assert_int_equal(privsep_status(pid, "Seccomp", 10), POLICY_UNCONFINED ? 0 : 2);
	privsep_assert_no_rights(pid);
	assert_int_equal(privsep_count_fds(pid), 3 + 1 + 1); /* channel, keys */
	channel_release(&channel);
	assert_true(privsep_gone(pid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_helpers__kernel_symbols_of_this_machine),
		cmocka_unit_test(test_helpers__kernel_symbols_are_read_without_rights),
		cmocka_unit_test(test_helpers__the_command_line_is_read_without_rights),
		cmocka_unit_test(test_helpers__the_command_line_as_the_loader_gets_it),
		cmocka_unit_test(test_helpers__a_process_must_exist_and_be_one),
		cmocka_unit_test(test_helpers__a_cgroup_must_be_one_where_it_can_be_seen),
		cmocka_unit_test(test_helpers__a_capability_that_is_missing_is_told),
		cmocka_unit_test(test_helpers__the_policy_is_read_without_rights),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, privsep_link_programs, NULL);
}

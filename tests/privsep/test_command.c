/* SPDX-License-Identifier: Apache-2.0 */
/* `record -- CMD`: whose process it is, and that it has nothing of ours. */
#include "loader/user.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "generated/version.h"
#include "tests/privsep/privsep.h"

static const struct policy_user user = {USER_ID, GROUP_ID, "no-such-user"};

struct output_of {
	char text[4096];
	int status;
};

/* Returns in ret_output what the script prints on standard output, and its status. */
static void run_shell(const char *script, struct output_of *ret_output)
{
	char *argv[] = {(char[]){"record"}, (char[]){"--"}, (char[]){"sh"},
			(char[]){"-c"},	    strdup(script), NULL};
	int ends[2], saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	struct command command;
	size_t length = 0;
	ssize_t got;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	dup2(ends[1], STDOUT_FILENO);
	assert_int_equal(command_start(&command, argv + 2, &user), 0);
	dup2(saved, STDOUT_FILENO);
	close(ends[1]);
	close(saved);
	command_release(&command);
	while ((got = read(ends[0], ret_output->text + length,
			   sizeof(ret_output->text) - 1 - length)) > 0)
		length += (size_t)got;
	ret_output->text[length] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(command.pid, &ret_output->status, 0), command.pid);
	free(argv[4]);
}

static void test_command__runs_as_the_user(void **state)
{
	struct output_of output;

	(void)state;
	run_shell("id -u; id -g; id -G; grep -E '^Cap(Prm|Eff|Amb)|NoNew|Seccomp:' "
		  "/proc/self/status; exit 7",
		  &output);
	assert_string_equal(output.text,
			    "1000\n1001\n1001\n"
			    "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"
			    "CapAmb:\t0000000000000000\nNoNewPrivs:\t0\nSeccomp:\t0\n");
	assert_int_equal(WEXITSTATUS(output.status), 7);
}

static void test_command__inherits_environment_and_three_descriptors(void **state)
{
	struct output_of output;
	int open_one = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */

	(void)state;
	setenv("KEYHOLE_TEST_VARIABLE", "here", 1);
	setenv("KEYHOLE_BUILD", KEYHOLE_VERSION, 1); /* as the loader does, for our own programs */
	run_shell("echo $KEYHOLE_TEST_VARIABLE$KEYHOLE_BUILD; for f in 0 1 2 3 4 5 6 7 8 9 10 11 "
		  "12; do "
		  "[ ! -e /proc/self/fd/$f ] || echo $f; done",
		  &output);
	assert_string_equal(output.text, "here\n0\n1\n2\n");
	close(open_one);
}

/* As shells put it. */
static int exit_status(struct command *command)
{
	for (int i = 0; i < 500 && command->pid; i++) {
		command_reap(command);
		usleep(10000);
	}
	assert_int_equal(command->pid, 0);
	return command->status;
}

static void test_command__waits_until_it_is_released(void **state)
{
	char *argv[] = {(char[]){"record"}, (char[]){"--"}, (char[]){"true"}, NULL};
	struct command command;

	(void)state;
	assert_int_equal(command_start(&command, argv + 2, &user), 0);
	usleep(50000);
	assert_int_equal(waitpid(command.pid, NULL, WNOHANG), 0);
	channel_release(&command.hold); /* as when the loader ends */
	assert_int_equal(exit_status(&command), 127);
}

static int status_of(const char *program)
{
	char *argv[] = {(char[]){"record"}, (char[]){"--"}, strdup(program), NULL};
	struct command command;

	assert_int_equal(command_start(&command, argv + 2, &user), 0);
	command_release(&command);
	free(argv[2]);
	return exit_status(&command);
}

static void test_command__exit_status(void **state)
{
	(void)state;
	assert_int_equal(status_of("true"), 0);
	assert_int_equal(status_of("false"), 1);
	assert_int_equal(status_of("/no/such/program"), 127);
	assert_int_equal(status_of("/etc/passwd"), 127);
}

static void test_command__identity_is_sudos(void **state)
{
	struct policy_user found;

	(void)state;
	unsetenv("SUDO_UID");
	assert_int_equal(policy_user_read(&found), 0);
	assert_int_equal(found.uid, 0);
	assert_null(found.name);
	setenv("SUDO_UID", "1000", 1);
	setenv("SUDO_GID", "1001", 1);
	setenv("SUDO_USER", "alice", 1);
	assert_int_equal(policy_user_read(&found), 0);
	assert_int_equal(found.uid, 1000);
	assert_int_equal(found.gid, 1001);
	assert_string_equal(found.name, "alice");
}

static void test_command__identity_refuses_what_sudo_would_not_set(void **state)
{
	static const char *const bad[] = {"",	 "-1", "4294967295",
					  "12x", " 5", "99999999999999999999"};
	struct policy_user found;

	(void)state;
	setenv("SUDO_GID", "1001", 1);
	setenv("SUDO_USER", "alice", 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		setenv("SUDO_UID", bad[i], 1);
		assert_int_equal(policy_user_read(&found), -EINVAL);
	}
	setenv("SUDO_UID", "1000", 1);
	unsetenv("SUDO_GID");
	assert_int_equal(policy_user_read(&found), -EINVAL);
	setenv("SUDO_GID", "1001", 1);
	unsetenv("SUDO_USER");
	assert_int_equal(policy_user_read(&found), -EINVAL);
	unsetenv("SUDO_UID");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command__runs_as_the_user),
		cmocka_unit_test(test_command__inherits_environment_and_three_descriptors),
		cmocka_unit_test(test_command__waits_until_it_is_released),
		cmocka_unit_test(test_command__exit_status),
		cmocka_unit_test(test_command__identity_is_sudos),
		cmocka_unit_test(test_command__identity_refuses_what_sudo_would_not_set),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, privsep_link_programs, NULL);
}

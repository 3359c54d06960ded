/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/spawner.h"

#include <errno.h>
#include <signal.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/policy_impl.h"
#include "tests/privsep/child.h"
#include "tests/privsep/privsep.h"

static void test_spawner__child_is_confined(void **state)
{
	struct child child;
	const char *reason;

	(void)state;
	child_start(&child, ROLE_EXPORTER);
	reason = privsep_wait_verified(ROLE_EXPORTER, child.pid);
	if (reason)
		fail_msg("exporter: %s", reason);
	assert_int_equal(privsep_count_fds(child.pid), 4);
	if (!POLICY_UNCONFINED)
		assert_string_equal(policy_verify(ROLE_EXPORTER, child.spawner.pid),
				    "it has no system call filter");
	child_stop(&child);
	assert_true(privsep_gone(child.pid));
}

static void test_spawner__child_ends_with_its_channel(void **state)
{
	struct child child;
	int status;

	(void)state;
	child_start(&child, ROLE_EXPORTER);
	channel_release(&child.loader);
	status = child_wait_exit(&child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	child_spawn(&child);
	assert_null(privsep_wait_verified(ROLE_EXPORTER, child.pid));
	child_stop(&child);
}

static void test_spawner__reports_a_killed_child_and_starts_another(void **state)
{
	struct child child;
	int status;

	(void)state;
	child_start(&child, ROLE_BROKER);
	kill(child.pid, SIGKILL);
	status = child_wait_exit(&child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	channel_release(&child.loader);
	for (int i = 0; i < 5; i++) {
		pid_t before = child.pid;

		child_spawn(&child); /* the one before still runs: it is replaced */
		assert_int_not_equal(child.pid, before);
		assert_null(privsep_wait_verified(ROLE_BROKER, child.pid));
		channel_release(&child.loader);
	}
	child_stop(&child);
}

static void test_spawner__its_end_is_the_childs_end(void **state)
{
	struct child child;

	(void)state;
	child_start(&child, ROLE_EXPORTER);
	kill(child.spawner.pid, SIGKILL);
	assert_true(privsep_gone(child.pid));
	child_stop(&child);
}

static void test_spawner__the_worker_comes_first(void **state)
{
	(void)state;
	for (enum policy_role role = ROLE_WORKER; role < ROLE_COUNT; role++) {
		struct child child;

		child_start(&child, role);
		assert_int_equal(getpriority(PRIO_PROCESS, (id_t)child.pid),
				 role == ROLE_WORKER ? -10 : 0);
		child_stop(&child);
	}
}

static void start_unprivileged(const void *argument)
{
	struct spawner spawner;
	struct channel channel;
	cap_t none = cap_init();

	(void)argument;
	/* still root by name, so that the programs can be opened wherever they are */
	if (!none || cap_set_proc(none) || spawner_start(&spawner, ROLE_BROKER) ||
	    spawner_spawn(&spawner, &channel) || spawner_started(&spawner) != -EPERM)
		_exit(1);
}

static void test_spawner__without_privilege_says_so(void **state)
{
	(void)state;
	assert_int_equal(privsep_run(start_unprivileged, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spawner__child_is_confined),
		cmocka_unit_test(test_spawner__child_ends_with_its_channel),
		cmocka_unit_test(test_spawner__reports_a_killed_child_and_starts_another),
		cmocka_unit_test(test_spawner__its_end_is_the_childs_end),
		cmocka_unit_test(test_spawner__the_worker_comes_first),
		cmocka_unit_test(test_spawner__without_privilege_says_so),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, privsep_link_programs, NULL);
}

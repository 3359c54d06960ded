/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/spawner.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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

	(void)state;
	child_start(&child, ROLE_EXPORTER);
	assert_int_equal(policy_verify(ROLE_EXPORTER, child.pid, 2), 0);
	/* standard descriptors and channel; epoll and the signal pair of libevent's loop */
	assert_int_equal(privsep_count_fds(child.pid), 4 + 3);
	assert_int_equal(policy_verify(ROLE_EXPORTER, child.spawner.pid, 1), 0);
	if (!POLICY_UNCONFINED) {
		assert_int_equal(policy_verify(ROLE_EXPORTER, child.pid, 1), LAYER_BIT(seccomp));
		assert_int_equal(policy_verify(ROLE_EXPORTER, child.spawner.pid, 2),
				 LAYER_BIT(seccomp));
	}
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
	assert_int_equal(policy_verify(ROLE_EXPORTER, child.pid, 2), 0);
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
		assert_int_equal(policy_verify(ROLE_BROKER, child.pid, 2), 0);
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
	const int own = getpriority(PRIO_PROCESS, 0);

	(void)state;
	for (enum policy_role role = ROLE_WORKER; role < ROLE_SUPERVISED; role++) {
		struct child child;

		child_start(&child, role);
		assert_int_equal(getpriority(PRIO_PROCESS, (id_t)child.pid),
				 role == ROLE_WORKER ? -10 : own);
		child_stop(&child);
	}
}

/* As /proc/<pid>/limits has it, the soft and the hard one; -1 is unlimited. */
static void read_limit(pid_t pid, const char *name, long long ret_values[2])
{
	char path[40], line[128];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (!found && fgets(line, sizeof(line), file))
		found = strncmp(line, name, strlen(name)) == 0;
	fclose(file);
	assert_true(found);
	if (sscanf(line + strlen(name), "%lld %lld", &ret_values[0], &ret_values[1]) != 2)
		ret_values[0] = ret_values[1] = -1;
}

static const char *name_of_limit(unsigned int resource)
{
	switch (resource) {
	case RLIMIT_CORE:
		return "Max core file size";
	case RLIMIT_NPROC:
		return "Max processes";
	case RLIMIT_NOFILE:
		return "Max open files";
	case RLIMIT_FSIZE:
		return "Max file size";
	case RLIMIT_DATA:
		return "Max data size";
	default:
		fail_msg("limit %u has no name here", resource);
		return "";
	}
}

static void check_limits(const struct child *child, const struct limit *limit)
{
	long long values[2];

	for (; limit->resource; limit++) {
		read_limit(child->pid, name_of_limit(limit->resource), values);
		for (int i = 0; i < 2; i++)
			assert_true(values[i] >= 0 && (uint64_t)values[i] <= limit->value);
	}
}

/* From outside, of the programs themselves. */
static void test_spawner__each_child_has_its_limits(void **state)
{
	(void)state;
	if (POLICY_UNCONFINED)
		skip();
	for (enum policy_role role = ROLE_WORKER; role < ROLE_SUPERVISED; role++) {
		struct child child;

		child_start(&child, role);
		check_limits(&child, policy_role(role)->limits);
		child_stop(&child);
	}
}

static void forbidden_in_spawner(const void *role)
{
	if (policy_become(*(const enum policy_role *)role) ||
	    policy_confine_spawner(*(const enum policy_role *)role))
		_exit(1);
	unshare(CLONE_NEWUSER);
}

static void test_spawner__filter_kills(void **state)
{
	(void)state;
	if (POLICY_UNCONFINED)
		skip();
	for (enum policy_role role = ROLE_WORKER; role < ROLE_SUPERVISED; role++)
		assert_true(privsep_killed_by_filter(privsep_run(forbidden_in_spawner, &role)));
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
		cmocka_unit_test(test_spawner__each_child_has_its_limits),
		cmocka_unit_test(test_spawner__filter_kills),
		cmocka_unit_test(test_spawner__without_privilege_says_so),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, privsep_link_programs, NULL);
}

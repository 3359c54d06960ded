/* SPDX-License-Identifier: Apache-2.0 */
/* The broker grants memory: of programs of many kinds, to a worker that says what it likes. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "ipc/guard.h"
#include "loader/broker/entries.h"
#include "tests/privsep/broker.h"
#include "tests/privsep/privsep.h"

#define FAMILY 77u
#define PAGE   4096u

static char folder[] = "/tmp/keyhole-grant-XXXXXX";
static char path[128];
static int segments = -1;

/* ---- programs ---- */

static void copy_program(const char *name, mode_t mode)
{
	guard_fd int from = open("/bin/sleep", O_RDONLY | O_CLOEXEC), to = -1;
	struct stat status;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(from >= 0 && to >= 0 && fstat(from, &status) == 0);
	assert_int_equal(sendfile(to, from, NULL, (size_t)status.st_size), status.st_size);
	assert_int_equal(fchmod(to, mode), 0);
}

/* Finds the first mapping of a file with these permissions. */
static bool find_mapped(pid_t pid, const char *file, const char *permissions,
			struct message_grant *ret_grant)
{
	unsigned long long start, end;
	char maps[32], line[512], found[8];
	bool is_there = false;
	FILE *text;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)pid);
	text = fopen(maps, "re");
	assert_non_null(text);
	while (!is_there && fgets(line, sizeof(line), text))
		is_there = strstr(line, file) &&
			   sscanf(line, "%llx-%llx %7s", &start, &end, found) == 3 &&
			   strcmp(found, permissions) == 0;
	fclose(text);
	if (!is_there)
		return false;
	*ret_grant = (struct message_grant){1, start, end, (uint32_t)pid, (uint32_t)pid};
	return true;
}

/* Starts the copy, which BPF follows from then on. The claim is true. */
static pid_t start_copy(uid_t uid, struct message_grant *ret_grant)
{
	const struct generation generation = {.number = 1, .family = FAMILY, .mm = PAGE};
	pid_t pid = fork();
	bool ready = false;

	assert_true(pid >= 0);
	if (pid == 0) {
		if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
			_exit(1);
		execl(path, "sleep", "60", NULL);
		_exit(1);
	}
	for (int i = 0; i < 500 && !ready; i++) {
		usleep(10000);
		ready = find_mapped(pid, path, "r-xp", ret_grant);
	}
	assert_true(ready);
	follow_as(pid, &generation);
	return pid;
}

static void end_copy(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- grants ---- */

static bool is_granted(uint64_t family)
{
	struct grant grant;

	return entry_read(grant_map(), &family, &grant) == 0;
}

static void forget_grants(void)
{
	uint64_t family;

	while (entry_next(grant_map(), NULL, &family) == 0)
		entry_remove(grant_map(), &family);
}

/* Returns what a broker with this rule, or NULL, answers about a copy of that name. */
static int judge(const char *name, mode_t mode, const struct message_grant_rule *rule)
{
	struct message_grant grant;
	struct child child;
	pid_t pid;
	int r;

	forget_grants();
	copy_program(name, mode);
	pid = start_copy(0, &grant);
	start_ruled_broker(&child, segments, 0, rule);
	r = ask_grant(&child, &grant);
	assert_int_equal(is_granted(FAMILY), r == 0);
	child_stop(&child);
	end_copy(pid);
	unlink(path);
	return r;
}

static void test_grant__names_of_runtimes(void **state)
{
	static const struct message_grant_rule rule = {.name = "pythonic"};

	(void)state;
	assert_int_equal(judge("python3.11", 0755, NULL), 0);
	assert_int_equal(judge("libpython3.11.so.1.0", 0755, NULL), 0);
	assert_int_equal(judge("pythonic", 0755, NULL), -EOPNOTSUPP);
	assert_int_equal(judge("sleep", 0755, NULL), -EOPNOTSUPP);
	assert_int_equal(judge("pythonic", 0755, &rule), 0);
	assert_int_equal(judge("pythonic3", 0755, &rule), 0);
	assert_int_equal(judge("pythonics", 0755, &rule), -EOPNOTSUPP);
}

/* The broker asks about the mapping with room for the short names of contexts. */
static void test_grant__a_path_longer_than_a_name(void **state)
{
	(void)state;
	assert_int_equal(
		judge("libpython3.11.so.1.000000000000000000000000000000000000000000000000", 0755,
		      NULL),
		0);
}

static void test_grant__no_set_id_program(void **state)
{
	(void)state;
	assert_int_equal(judge("python3.11", 04755, NULL), -EACCES);
	assert_int_equal(judge("python3.11", 02755, NULL), -EACCES);
}

static void test_grant__rules_of_the_policy(void **state)
{
	struct message_grant_rule rule = {.key = {DENY_UID, 0}};
	struct stat status;

	(void)state;
	assert_int_equal(judge("python3.11", 0755, &rule), -EPERM);
	rule.key[1] = 5;
	assert_int_equal(judge("python3.11", 0755, &rule), 0);
	rule = (struct message_grant_rule){.key = {DENY_COMM}};
	memcpy(&rule.key[1], "python3", 7);
	assert_int_equal(judge("python3.11", 0755, &rule), -EPERM);
	assert_int_equal(judge("python2", 0755, &rule), 0);
	copy_program("python3.11", 0755);
	assert_int_equal(stat(path, &status), 0);
	rule = (struct message_grant_rule){.key = {DENY_EXECUTABLE, status.st_dev, status.st_ino}};
	rule.key[1] = (uint64_t)gnu_dev_major(status.st_dev) << DENY_DEVICE_MINORS |
		      gnu_dev_minor(status.st_dev);
	assert_int_equal(judge("python3.11", 0755, &rule), -EPERM); /* the copy keeps its inode */
	rule.key[2] ^= 1ull << 40; /* of no file: the next one may be the new copy */
	assert_int_equal(judge("python3.11", 0755, &rule), 0);
}

/* The worker says something else than what is so. */
static void test_grant__claims_that_are_wrong(void **state)
{
	const struct generation another = {.number = 2, .family = FAMILY, .mm = PAGE};
	const struct generation execs = {.number = 1, .family = FAMILY, .mm = MM_OF_EXEC};
	const struct generation denied = {.number = 1, .family = FAMILY, .denied = 1};
	const struct generation right = {.number = 1, .family = FAMILY, .mm = PAGE};
	struct message_grant good, wrong;
	struct child child;
	pid_t pid;

	(void)state;
	forget_grants();
	copy_program("python3.11", 0755);
	pid = start_copy(0, &good);
	start_broker(&child, segments);
	assert_true(find_mapped(pid, path, "r--p", &wrong));
	assert_int_equal(ask_grant(&child, &wrong), -EACCES);
	wrong = good;
	wrong.end += PAGE;
	assert_int_equal(ask_grant(&child, &wrong), -ENOENT);
	wrong = good;
	wrong.start++;
	assert_int_equal(ask_grant(&child, &wrong), -EINVAL);
	wrong = (struct message_grant){1, good.end, good.start, good.pid, good.thread};
	assert_int_equal(ask_grant(&child, &wrong), -EINVAL);
	wrong = good;
	wrong.pid = 0;
	assert_int_equal(ask_grant(&child, &wrong), -EINVAL);
	wrong.pid = 1;
	assert_int_equal(ask_grant(&child, &wrong), -ENOENT);
	wrong = good;
	wrong.thread = 1;
	assert_int_equal(ask_grant(&child, &wrong), -ENOENT);
	wrong = good;
	wrong.generation++;
	assert_int_equal(ask_grant(&child, &wrong), -ESRCH);
	follow_as(pid, &another);
	assert_int_equal(ask_grant(&child, &good), -ESRCH);
	follow_as(pid, &execs);
	assert_int_equal(ask_grant(&child, &good), -ESRCH);
	follow_as(pid, &denied);
	assert_int_equal(ask_grant(&child, &good), -EACCES);
	/* killed, before BPF's table says so */
	follow_as(pid, &right);
	end_copy(pid);
	assert_int_equal(ask_grant(&child, &good), -ENOENT);
	assert_false(is_granted(FAMILY));
	child_stop(&child);
	unlink(path);
}

/* Data is no code, whatever its name, and neither is what the process may write to. */
static void test_grant__mapped_files_with_such_a_name(void **state)
{
	const struct generation generation = {.number = 1, .family = FAMILY, .mm = PAGE};
	struct message_grant grant;
	struct child child;
	void *read_only, *writable;
	guard_fd int to_read = -1, to_write = -1;

	(void)state;
	forget_grants();
	copy_program("python.html", 0644);
	to_read = open(path, O_RDONLY | O_CLOEXEC);
	to_write = open(path, O_RDWR | O_CLOEXEC);
	read_only = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, to_read, 0);
	writable = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, to_write, 0);
	assert_true(read_only != MAP_FAILED && writable != MAP_FAILED);
	start_broker(&child, segments);
	follow_as(getpid(), &generation);
	assert_true(find_mapped(getpid(), path, "r--p", &grant));
	assert_int_equal(ask_grant(&child, &grant), -EACCES);
	assert_true(find_mapped(getpid(), path, "r-xs", &grant));
	assert_int_equal(ask_grant(&child, &grant), -EACCES);
	assert_false(is_granted(FAMILY));
	munmap(read_only, PAGE);
	munmap(writable, PAGE);
	child_stop(&child);
	unlink(path);
}

/* A package was upgraded; a file had the kernel's word in its own name. */
static void test_grant__files_that_were_removed(void **state)
{
	static const struct {
		const char *name;
		int r;
	} cases[] = {{"python3.11", 0}, {"node", 0}, {"node (deleted)", -EOPNOTSUPP}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct message_grant grant;
		struct child child;
		pid_t pid;

		forget_grants();
		copy_program(cases[i].name, 0755);
		pid = start_copy(0, &grant);
		unlink(path);
		start_broker(&child, segments);
		assert_int_equal(ask_grant(&child, &grant), cases[i].r);
		child_stop(&child);
		end_copy(pid);
	}
	assert_int_equal(judge("node (deleted)", 0755, NULL), -EOPNOTSUPP);
}

/* Nobody gets more by asking again, of another broker neither. */
static void test_grant__a_budget_that_stays(void **state)
{
	const uint64_t family = FAMILY;
	struct message_grant request;
	struct grant grant;
	struct child child;
	pid_t pid;

	(void)state;
	forget_grants();
	copy_program("python3.11", 0755);
	pid = start_copy(USER_ID, &request);
	start_broker(&child, segments);
	assert_int_equal(ask_grant(&child, &request), 0);
	assert_int_equal(entry_read(grant_map(), &family, &grant), 0);
	assert_int_equal(grant.told, 0);
	assert_int_equal(grant.listed, 0);
	assert_int_equal(grant.uid, USER_ID);
	grant.told = grant.listed = 5;
	assert_int_equal(entry_write(grant_map(), &family, &grant, BPF_ANY), 0);
	assert_int_equal(ask_grant(&child, &request), 0);
	child_stop(&child);
	start_broker(&child, segments);
	assert_int_equal(ask_grant(&child, &request), 0);
	assert_int_equal(entry_read(grant_map(), &family, &grant), 0);
	assert_int_equal(grant.told, 5);
	assert_int_equal(grant.listed, 5);
	child_stop(&child);
	end_copy(pid);
	unlink(path);
}

#define FIRST 1000u

/* Fills in grants of a user. The first `alive` families have a process. */
static void fill_grants(uint32_t count, uint32_t alive, uint32_t uid)
{
	const struct grant grant = {.told = 1, .uid = uid};

	forget_grants();
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t family = FIRST + i;

		assert_int_equal(entry_write(grant_map(), &family, &grant, BPF_ANY), 0);
	}
	for (uint32_t i = 0; i < GRANTS_USER; i++) {
		const struct generation generation = {.number = 1,
						      .family = i < alive ? FIRST + i : 1};

		follow_as((pid_t)(PROCESS_PID_MAX - i), &generation);
	}
}

static void test_grant__a_share_for_each_user(void **state)
{
	struct message_grant request;
	struct child child;
	pid_t pid;

	(void)state;
	copy_program("python3.11", 0755);
	pid = start_copy(USER_ID, &request);
	start_broker(&child, segments);

	fill_grants(GRANTS_USER, GRANTS_USER, USER_ID + 1); /* somebody else's */
	assert_int_equal(ask_grant(&child, &request), 0);
	fill_grants(GRANTS_USER, GRANTS_USER, USER_ID);
	assert_int_equal(ask_grant(&child, &request), -EDQUOT);
	assert_int_equal(ask_grant(&child, &request), -EBUSY); /* it has just been looked for */
	sleep(1);
	/* of the whole table, only those that live stay */
	fill_grants(GRANTS_MAX, GRANTS_USER - 1, USER_ID);
	assert_int_equal(ask_grant(&child, &request), 0);
	assert_true(is_granted(FAMILY) && is_granted(FIRST));
	assert_true(is_granted(FIRST + GRANTS_USER - 2) && !is_granted(FIRST + GRANTS_USER - 1));
	child_stop(&child);
	end_copy(pid);
	unlink(path);
}

static void test_grant__rules_that_there_are_not(void **state)
{
	static const struct message_grant_rule rules[] = {
		{.key = {DENY_CGROUP, 1}},
		{.key = {DENY_KINDS}},
		{.name = {[0 ... GRANT_NAME_BYTES - 1] = 'a'}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		struct child child;

		begin_ruled_broker(&child, segments, 0, &rules[i]);
		assert_int_equal(WEXITSTATUS(child_wait_exit(&child)), 1);
		child_stop(&child);
	}
}

static int set_up(void **state)
{
	segments = segment_map();
	if (!mkdtemp(folder) || chmod(folder, 0755))
		return -1;
	return privsep_link_programs(state);
}

static int tear_down(void **state)
{
	(void)state;
	close(segments);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grant__names_of_runtimes),
		cmocka_unit_test(test_grant__a_path_longer_than_a_name),
		cmocka_unit_test(test_grant__no_set_id_program),
		cmocka_unit_test(test_grant__rules_of_the_policy),
		cmocka_unit_test(test_grant__claims_that_are_wrong),
		cmocka_unit_test(test_grant__mapped_files_with_such_a_name),
		cmocka_unit_test(test_grant__files_that_were_removed),
		cmocka_unit_test(test_grant__a_budget_that_stays),
		cmocka_unit_test(test_grant__a_share_for_each_user),
		cmocka_unit_test(test_grant__rules_that_there_are_not),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

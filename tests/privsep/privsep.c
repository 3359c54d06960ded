/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/privsep/privsep.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/policy_impl.h"

void privsep_need_root(void)
{
	if (geteuid() == 0)
		return;
	fputs("not root\n", stderr);
	exit(77);
}

int privsep_link_programs(void **state)
{
	static const char *const programs[] = {
		"keyhole-worker",	  "keyhole-exporter", "keyhole-broker", "keyhole-output",
		"keyhole-kernel-symbols", "keyhole-options",  "keyhole-audit",	"keyhole-rules",
		"keyhole-debug-reader",	  "keyhole-connector"};
	char self[PATH_MAX], path[PATH_MAX + 64], target[64];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	if (length < 0)
		return -1;
	self[length] = '\0';
	dirname(self);
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		snprintf(path, sizeof(path), "%s/%s", self, programs[i]);
		snprintf(target, sizeof(target), "../../%s", programs[i]);
		if (symlink(target, path) && errno != EEXIST)
			return -1;
	}
	return 0;
}

int privsep_run(void (*function)(const void *argument), const void *argument)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		function(argument);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

pid_t privsep_start(void (*function)(const void *argument), const void *argument)
{
	pid_t pid = fork();

	if (pid == 0) {
		alarm(60);
		function(argument);
		/* poll() is the one way to wait that every role may use; alarm() ends what a failed
		 * test leaves behind */
		while (true)
			poll(NULL, 0, -1);
	}
	assert_true(pid > 0);
	return pid;
}

void privsep_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

uint32_t privsep_wait_verified(enum policy_role role, pid_t pid, unsigned int filters,
			       uint32_t expected)
{
	uint32_t failed = policy_verify(role, pid, filters);

	for (int i = 0; i < 100 && failed != expected; i++) {
		poll(NULL, 0, 10);
		failed = policy_verify(role, pid, filters);
	}
	return failed;
}

static char state_of(pid_t pid)
{
	char path[32], state = 'X';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 'X';
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	fclose(file);
	return state;
}

bool privsep_gone(pid_t pid)
{
	char state = state_of(pid);

	for (int i = 0; i < 100 && state != 'X' && state != 'Z'; i++) {
		poll(NULL, 0, 10);
		state = state_of(pid);
	}
	return state == 'X' || state == 'Z';
}

unsigned int privsep_count_fds(pid_t pid)
{
	unsigned int count = 0;
	char path[64];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder));)
		count += *entry->d_name != '.';
	closedir(folder);
	return count;
}

bool privsep_killed_by_filter(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

uint64_t privsep_status(pid_t pid, const char *field, int base)
{
	char path[32], line[128], name[32];
	uint64_t value = ~0ull;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	snprintf(name, sizeof(name), "%s:\t", field);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			value = strtoull(line + strlen(name), NULL, base);
	fclose(file);
	return value;
}

void privsep_assert_no_rights(pid_t pid)
{
	static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"};

	assert_int_equal(privsep_status(pid, "Uid", 10), policy_role(ROLE_LOADER)->id);
	assert_int_equal(privsep_status(pid, "NoNewPrivs", 10), 1);
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		assert_int_equal(privsep_status(pid, sets[i], 16), 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The real keyhole-audit; the test plays loader and broker. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader/helper.h"
#include "policy/policy_impl.h"
#include "tests/privsep/privsep.h"

#define WAIT_MS 10000

struct auditor {
	struct channel channel;
	pid_t pid;
};

static char folder[] = "/tmp/keyhole-auditor-XXXXXX", path[64];

static const char *in_folder(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int make_file(const char *name, mode_t mode)
{
	int fd = open(in_folder(name), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, mode);

	assert_true(fd >= 0 && !fchmod(fd, mode));
	return fd;
}

static int tell(struct auditor *auditor, uint32_t event, uint64_t first, uint64_t second)
{
	const struct message_audit_event message = {event, PARTY_LOADER, {first, second}};

	return channel_send(&auditor->channel, MESSAGE_AUDIT_EVENT, &message, sizeof(message), -1);
}

/* Returns the answer about the file, and closes the file. */
static int start(struct auditor *auditor, int file, uint64_t owner)
{
	static const char *const argv[] = {"record", "--audit", "x", NULL};
	static const struct message_policy_keys policy = {.hash = "5eed"};
	struct message message;
	int r;

	auditor->pid = helper_start(PARTY_AUDITOR, argv, NULL, &auditor->channel);
	assert_true(auditor->pid > 0);
	assert_int_equal(
		channel_send(&auditor->channel, MESSAGE_AUDIT_FILE, &policy, sizeof(policy), file),
		0);
	close(file);
	assert_int_equal(tell(auditor, AUDIT_start, 0, owner), 0);
	r = channel_expect(&auditor->channel, MESSAGE_AUDIT_WRITTEN, WAIT_MS, &message);
	return r ? r : message.AUDIT_WRITTEN.error;
}

/* Returns the exit status, or 128 and the signal. */
static int end(struct auditor *auditor)
{
	int status = 0;

	channel_release(&auditor->channel);
	assert_int_equal(waitpid(auditor->pid, &status, 0), auditor->pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int refusal(int file, uint64_t owner)
{
	struct auditor auditor;
	int r = start(&auditor, file, owner);

	assert_int_equal(end(&auditor), 1);
	return r;
}

/* keyhole-audit refuses files that others could read, replace or write to. */
static void test_auditor__looks_at_its_file(void **state)
{
	char other[80];

	(void)state;
	assert_int_equal(refusal(make_file("a", 0640), 0), -EPERM);
	assert_int_equal(refusal(make_file("b", 0602), 0), -EPERM);
	assert_int_equal(refusal(make_file("c", 0600), 1000), -EPERM);
	snprintf(other, sizeof(other), "%s/d2", folder);
	close(make_file("d", 0600));
	assert_int_equal(link(in_folder("d"), other), 0);
	assert_int_equal(refusal(make_file("d", 0600), 0), -EPERM);
	assert_int_equal(refusal(open("/dev/null", O_WRONLY | O_CLOEXEC), 0), -EPERM);
	assert_int_equal(refusal(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0), -EPERM);
}

static void test_auditor__writes_the_first_and_the_last_record(void **state)
{
	struct auditor auditor;
	struct message message;
	char text[4096] = "";
	int fd;

	(void)state;
	assert_int_equal(start(&auditor, make_file("whole.json", 0600), 0), 0);
	assert_int_equal(tell(&auditor, AUDIT_end, 7, 0), 0);
	assert_int_equal(channel_expect(&auditor.channel, MESSAGE_AUDIT_WRITTEN, WAIT_MS, &message),
			 0);
	fd = open(in_folder("whole.json"), O_RDONLY | O_CLOEXEC);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	assert_memory_equal(text, "{\"seq\":1,", 9);
	assert_non_null(strstr(text, "\"arguments\":\"record --audit x\"}\n{\"seq\":2,"));
	assert_non_null(strstr(text, "\"status\":7,\"records\":2,\"lost\":0}\n"));
	assert_int_equal(end(&auditor), 0);
}

static void test_auditor__ends_on_a_violation_of_the_loader(void **state)
{
	static const uint32_t wrong[] = {0, AUDIT_operations, AUDIT_sampled + 1, UINT32_MAX};
	struct auditor auditor;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(start(&auditor, make_file("v", 0600), 0), 0);
		assert_int_equal(tell(&auditor, wrong[i], 0, 0), 0);
		assert_int_equal(privsep_gone(auditor.pid), 1);
		assert_int_equal(end(&auditor), 1);
	}
}

static void give_broker(struct auditor *auditor, struct channel *ret_broker)
{
	const struct message_descriptor descriptor = {.kind = DESCRIPTOR_BROKER};
	int pair[2];

	assert_int_equal(channel_pair(pair), 0);
	assert_int_equal(channel_send(&auditor->channel, MESSAGE_AUDIT_BROKER, &descriptor,
				      sizeof(descriptor), pair[0]),
			 0);
	close(pair[0]);
	channel_init(ret_broker, pair[1], PARTY_BROKER, PARTY_AUDITOR);
}

/* A broker that was taken over can withhold its deeds, and do no more. */
static void test_auditor__ends_on_a_violation_of_the_broker(void **state)
{
	static const struct message_audit wrong[] = {
		{.request = MESSAGE_NONE},
		{.request = MESSAGE_READY},
		{.request = UINT16_MAX},
		{.request = MESSAGE_MAPS, .granted = 2},
		{.request = MESSAGE_MAPS, .answer = {.error = 1}},
		{.request = MESSAGE_MAPS, .answer = {.error = INT32_MIN}},
		{.request = MESSAGE_MAPS, .answer = {.error = -4000}},
	};
	struct auditor auditor;
	struct channel broker;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(start(&auditor, make_file("w", 0600), 0), 0);
		give_broker(&auditor, &broker);
		assert_int_equal(
			channel_send(&broker, MESSAGE_AUDIT, &wrong[i], sizeof(wrong[i]), -1), 0);
		assert_int_equal(privsep_gone(auditor.pid), 1);
		assert_int_equal(end(&auditor), 1);
		channel_release(&broker);
	}
}

static void test_auditor__has_no_rights(void **state)
{
	struct auditor auditor;

	(void)state;
	assert_int_equal(start(&auditor, make_file("r", 0600), 0), 0);
	privsep_assert_no_rights(auditor.pid);
	assert_int_equal(privsep_status(auditor.pid, "Seccomp", 10), 2);
	assert_int_equal(privsep_count_fds(auditor.pid), 3 + 1 + 1); /* channel, file */
	assert_int_equal(end(&auditor), 1);
}

static int make_folder(void **state)
{
	return mkdtemp(folder) ? privsep_link_programs(state) : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d", "d2", "v", "w", "r", "whole.json"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(in_folder(names[i]));
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_auditor__looks_at_its_file),
		cmocka_unit_test(test_auditor__writes_the_first_and_the_last_record),
		cmocka_unit_test(test_auditor__ends_on_a_violation_of_the_loader),
		cmocka_unit_test(test_auditor__ends_on_a_violation_of_the_broker),
		cmocka_unit_test(test_auditor__has_no_rights),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

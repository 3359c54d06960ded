/* SPDX-License-Identifier: Apache-2.0 */
/* The broker reads what a process says of itself, and nothing else of its memory. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "ipc/guard.h"
#include "tests/privsep/broker.h"
#include "tests/privsep/privsep.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA	     0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

#define PAGE	4096u
#define PAYLOAD "what the process says"

static int segments = -1;

/* The header of OTEP 4719, version 2, as a program writes it. */
struct header {
	char signature[8];
	uint32_t version, size;
	uint64_t published, payload;
};

/* ---- a process that publishes ---- */

struct page {
	struct header header;
	char payload[PAGE - sizeof(struct header)];
};

/* The test is a target itself: BPF "follows" it. */
static struct page *publish(const char *name)
{
	const int fd = memfd_create(name, MFD_CLOEXEC);
	struct page *page;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, PAGE), 0);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	assert_true(page != MAP_FAILED);
	close(fd);
	page->header = (struct header){"OTEL_CTX", 2, sizeof(PAYLOAD) - 1, 1,
				       (uint64_t)(uintptr_t)page->payload};
	memcpy(page->payload, PAYLOAD, sizeof(PAYLOAD));
	return page;
}

static struct message_context request_of(const struct page *page)
{
	const uint64_t start = (uint64_t)(uintptr_t)page;
	const uint32_t pid = (uint32_t)getpid();

	return (struct message_context){1, start, start + PAGE, pid, pid};
}

/* ---- questions ---- */

static int ask_fd(struct child *child, const struct message_context *request, int *ret_fd)
{
	struct message message;

	assert_int_equal(
		channel_send(&child->worker, MESSAGE_CONTEXT, request, sizeof(*request), -1), 0);
	assert_int_equal(channel_wait(&child->worker, CHILD_WAIT_MS, &message), 1);
	assert_int_equal(message.head.type, MESSAGE_CONTEXT_REPLY);
	assert_int_equal(message.head.reply_to, child->worker.sent);
	*ret_fd = message.fd;
	return message.CONTEXT_REPLY.error;
}

static int ask(struct child *child, const struct message_context *request)
{
	int fd;
	int r = ask_fd(child, request, &fd);

	assert_int_equal(fd >= 0, r == 0);
	if (fd >= 0)
		close(fd);
	return r;
}

static int ask_page(struct child *child, const struct page *page)
{
	const struct message_context request = request_of(page);

	return ask(child, &request);
}

/* Asks, and wants exactly these bytes behind a descriptor that can only be read. */
static void check_bytes(struct child *child, const struct message_context *request,
			const void *bytes, size_t size)
{
	static char read_bytes[CONTEXT_BYTES_MAX + 1];
	size_t length = 0;
	ssize_t got;
	int fd;

	assert_int_equal(ask_fd(child, request, &fd), 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	while ((got = read(fd, read_bytes + length, sizeof(read_bytes) - length)) > 0)
		length += (size_t)got;
	assert_int_equal(got, 0); /* the broker holds no end of the pipe */
	assert_int_equal(length, size);
	assert_memory_equal(read_bytes, bytes, size);
	close(fd);
}

static void check_payload(struct child *child, const struct page *page)
{
	const struct message_context request = request_of(page);

	check_bytes(child, &request, PAYLOAD, sizeof(PAYLOAD) - 1);
}

/* ---- the context ---- */

static void test_context__gives_the_payload(void **state)
{
	struct page *page = publish("OTEL_CTX");
	struct child child;

	(void)state;
	follow(getpid(), 0);
	start_broker(&child, segments);
	check_payload(&child, page);
	check_payload(&child, page);
	child_stop(&child);
	munmap(page, PAGE);
}

/* The mapping has one page: its neighbours have other permissions. */
static struct page *publish_anonymous(int flags)
{
	char *around = mmap(NULL, 3 * PAGE, PROT_NONE, flags | MAP_ANONYMOUS, -1, 0);
	struct page *page = (struct page *)(around + PAGE);

	assert_true(around != MAP_FAILED);
	assert_int_equal(mprotect(page, PAGE, PROT_READ | PROT_WRITE), 0);
	page->header = (struct header){"OTEL_CTX", 2, sizeof(PAYLOAD) - 1, 1,
				       (uint64_t)(uintptr_t)page->payload};
	memcpy(page->payload, PAYLOAD, sizeof(PAYLOAD));
	return page;
}

/* Kernels without CONFIG_ANON_VMA_NAME have no such names. */
static void test_context__gives_that_of_named_memory(void **state)
{
	static const int kinds[] = {MAP_PRIVATE, MAP_SHARED};
	struct child child;

	(void)state;
	follow(getpid(), 0);
	start_broker(&child, segments);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct page *page = publish_anonymous(kinds[i]);

		assert_int_equal(ask_page(&child, page), -EOPNOTSUPP);
		if (prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, page, PAGE, "OTEL_CTX") == 0)
			check_payload(&child, page);
		munmap((char *)page - PAGE, 3 * PAGE);
	}
	child_stop(&child);
}

static void test_context__needs_the_name(void **state)
{
	static const char *const names[] = {"OTEL_CTX2",	  "OTEL_CT",	"x/memfd:OTEL_CTX",
					    "OTEL_CTX (deleted)", "OTEL_CTX\n", ""};
	struct child child;

	(void)state;
	follow(getpid(), 0);
	start_broker(&child, segments);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct page *page = publish(names[i]);

		assert_int_equal(ask_page(&child, page), -EOPNOTSUPP);
		munmap(page, PAGE);
	}
	child_stop(&child);
}

/* Maps a file that has the name of a memfd's mapping, on a mount that has no place any more. */
static pid_t start_forger(uint64_t start)
{
	static const char root[] = "/mnt", name[] = "/mnt/memfd:OTEL_CTX (deleted)";
	void *at = (void *)(uintptr_t)start;
	const pid_t pid = fork();
	int fd;

	assert_true(pid >= 0);
	if (pid > 0) {
		assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", root, "tmpfs", 0, NULL))
		_exit(1);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, PAGE) || umount2(root, MNT_DETACH))
		_exit(1);
	if (mmap(at, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != at)
		_exit(1);
	raise(SIGSTOP);
	_exit(0);
}

static void test_context__needs_memory_behind_the_name(void **state)
{
	const uint64_t start = 0x10000000;
	const pid_t pid = start_forger(start);
	const struct message_context request = {1, start, start + PAGE, (uint32_t)pid,
						(uint32_t)pid};
	char maps[64], line[512];
	bool is_there = false;
	struct child child;
	FILE *text;

	(void)state;
	snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)pid);
	text = fopen(maps, "re");
	assert_non_null(text);
	while (fgets(line, sizeof(line), text))
		is_there |= strstr(line, " /memfd:OTEL_CTX (deleted)\n") != NULL;
	fclose(text);
	assert_true(is_there);
	follow(pid, 0);
	start_broker(&child, segments);
	assert_int_equal(ask(&child, &request), -EACCES);
	child_stop(&child);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_context__checks_the_process(void **state)
{
	const struct generation exec = {.number = 1, .family = 1, .mm = MM_OF_EXEC};
	struct page *page = publish("OTEL_CTX");
	struct message_context request = request_of(page);
	struct child child;

	(void)state;
	follow(getpid(), 0);
	start_broker(&child, segments);
	request.generation = 2;
	assert_int_equal(ask(&child, &request), -ESRCH);
	request = request_of(page);
	request.thread = (uint32_t)getppid(); /* no thread of the process */
	assert_int_equal(ask(&child, &request), -ENOENT);
	request.pid = request.thread; /* nobody follows it, and it has no such mapping */
	assert_int_equal(ask(&child, &request), -ENOENT);
	request.pid = request.thread = 0;
	assert_int_equal(ask(&child, &request), -ENOENT);
	follow_as(getpid(), &exec);
	assert_int_equal(ask_page(&child, page), -ESRCH);
	follow(getpid(), 1);
	assert_int_equal(ask_page(&child, page), -EACCES);
	follow(getpid(), 0);
	assert_int_equal(ask_page(&child, page), 0);
	child_stop(&child);
	munmap(page, PAGE);
}

static void test_context__bounds_are_those_of_the_mapping(void **state)
{
	struct page *page = publish("OTEL_CTX");
	const struct message_context right = request_of(page);
	const int64_t shifts[][2] = {{PAGE, PAGE}, {0, PAGE}, {-(int64_t)PAGE, 0}};
	struct message_context request;
	struct child child;

	(void)state;
	follow(getpid(), 0);
	start_broker(&child, segments);
	for (size_t i = 0; i < sizeof(shifts) / sizeof(*shifts); i++) {
		request = right;
		request.start += (uint64_t)shifts[i][0];
		request.end += (uint64_t)shifts[i][1];
		assert_in_range(-ask(&child, &request), ENOENT, EOPNOTSUPP);
	}
	request = right;
	request.start += 8;
	assert_int_equal(ask(&child, &request), -EINVAL);
	request.start = right.end;
	assert_int_equal(ask(&child, &request), -EINVAL);
	child_stop(&child);
	munmap(page, PAGE);
}

static int ask_header(struct child *child, struct page *page, const struct header *header)
{
	page->header = *header;
	return ask_page(child, page);
}

static void test_context__other_headers(void **state)
{
	struct page *page = publish("OTEL_CTX");
	const struct header right = page->header;
	struct header header;
	struct child child;

	(void)state;
	follow(getpid(), 0);
	start_broker(&child, segments);
	header = right;
	header.signature[7] = 'x';
	assert_int_equal(ask_header(&child, page, &header), -EINVAL);
	header = right;
	header.version = 1;
	assert_int_equal(ask_header(&child, page, &header), -EINVAL);
	header.version = 3;
	assert_int_equal(ask_header(&child, page, &header), -EINVAL);
	header = right;
	header.published = 0;
	assert_int_equal(ask_header(&child, page, &header), -EBUSY);
	header = right;
	header.size = 0;
	assert_int_equal(ask_header(&child, page, &header), -ENODATA);
	header.size = CONTEXT_BYTES_MAX + 1;
	assert_int_equal(ask_header(&child, page, &header), -E2BIG);
	header.size = UINT32_MAX;
	assert_int_equal(ask_header(&child, page, &header), -E2BIG);
	page->header = right;
	check_payload(&child, page);
	child_stop(&child);
	munmap(page, PAGE);
}

/* A payload as large as may be comes whole; its place is anywhere in memory, within one mapping. */
static void test_context__large_payload(void **state)
{
	struct page *page = publish("OTEL_CTX");
	const struct message_context request = request_of(page);
	char *bytes = mmap(NULL, CONTEXT_BYTES_MAX, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct child child;

	(void)state;
	assert_true(bytes != MAP_FAILED);
	for (size_t i = 0; i < CONTEXT_BYTES_MAX; i++)
		bytes[i] = (char)(i * 7 + i / 256);
	page->header.payload = (uint64_t)(uintptr_t)bytes;
	page->header.size = CONTEXT_BYTES_MAX;
	follow(getpid(), 0);
	start_broker(&child, segments);
	check_bytes(&child, &request, bytes, CONTEXT_BYTES_MAX);
	assert_int_equal(munmap(bytes + CONTEXT_BYTES_MAX - PAGE, PAGE), 0);
	assert_int_not_equal(ask(&child, &request), 0);
	child_stop(&child);
	munmap(bytes, CONTEXT_BYTES_MAX - PAGE);
	munmap(page, PAGE);
}

static void test_context__payloads_nowhere(void **state)
{
	static const uint64_t places[] = {0, PAGE, (uint64_t)INT64_MAX - 8, 1ull << 63, UINT64_MAX};
	struct page *page = publish("OTEL_CTX");
	struct child child;

	(void)state;
	follow(getpid(), 0);
	start_broker(&child, segments);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		page->header.payload = places[i];
		assert_in_range(-ask_page(&child, page), ENOENT, EINVAL);
	}
	child_stop(&child);
	munmap(page, PAGE);
}

static char in_data[] = PAYLOAD;

static int ask_payload_at(struct child *child, struct page *page, const void *payload)
{
	page->header.payload = (uint64_t)(uintptr_t)payload;
	return ask_page(child, page);
}

/* A map of BPF stands for files of all file systems that may keep the broker waiting. */
static void test_context__payloads_in_files(void **state)
{
	struct page *page = publish("OTEL_CTX");
	const int map = bpf_array(BPF_MAP_TYPE_ARRAY, PAGE, 1, -1);
	void *values = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, map, 0);
	struct child child;

	(void)state;
	assert_true(values != MAP_FAILED);
	follow(getpid(), 0);
	start_broker(&child, segments);
	assert_int_equal(ask_payload_at(&child, page, in_data), 0);
	check_payload(&child, page);
	assert_int_equal(ask_payload_at(&child, page, values), -EACCES);
	child_stop(&child);
	close(map);
	munmap(values, PAGE);
	munmap(page, PAGE);
}

/* Memory that another thread should fill gives an error, and the broker does not wait. */
static void test_context__memory_of_a_userfaultfd(void **state)
{
	struct page *page = publish("OTEL_CTX");
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	char *bytes = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct child child;

	(void)state;
	if (fd < 0)
		skip();
	assert_true(bytes != MAP_FAILED);
	assert_int_equal(ioctl(fd, UFFDIO_API, &api), 0);
	range.range.start = (uint64_t)(uintptr_t)bytes;
	range.range.len = PAGE;
	assert_int_equal(ioctl(fd, UFFDIO_REGISTER, &range), 0);
	page->header.payload = (uint64_t)(uintptr_t)bytes;
	follow(getpid(), 0);
	start_broker(&child, segments);
	assert_int_equal(ask_page(&child, page), -EIO);
	child_stop(&child);
	close(fd);
	munmap(bytes, PAGE);
	munmap(page, PAGE);
}

/* ---- rules ---- */

static int judge(const struct message_context *request, const struct message_grant_rule *rule)
{
	struct child child;
	int r;

	start_ruled_broker(&child, segments, 0, rule);
	r = ask(&child, request);
	child_stop(&child);
	return r;
}

static void test_context__policy(void **state)
{
	const struct message_grant_rule off = {.key = {GRANT_RULE_NO_CONTEXTS}};
	const struct message_grant_rule other = {.key = {GRANT_RULE_NO_CODE_FILES}};
	struct message_grant_rule uid = {.key = {DENY_UID, 0}};
	struct message_grant_rule comm = {.key = {DENY_COMM}};
	struct message_grant_rule executable = {.key = {DENY_EXECUTABLE}};
	struct page *page = publish("OTEL_CTX");
	const struct message_context request = request_of(page);
	struct stat status;

	(void)state;
	follow(getpid(), 0);
	assert_int_equal(judge(&request, &off), -EPERM);
	assert_int_equal(judge(&request, &other), 0);
	assert_int_equal(judge(&request, &uid), -EPERM);
	uid.key[1] = 5;
	assert_int_equal(judge(&request, &uid), 0);
	memcpy(&comm.key[1], "test_con", 8);
	assert_int_equal(judge(&request, &comm), -EPERM);
	assert_int_equal(stat("/proc/self/exe", &status), 0);
	executable.key[1] = (uint64_t)gnu_dev_major(status.st_dev) << DENY_DEVICE_MINORS |
			    gnu_dev_minor(status.st_dev);
	executable.key[2] = status.st_ino;
	assert_int_equal(judge(&request, &executable), -EPERM);
	munmap(page, PAGE);
}

/* ---- other programs ---- */

static char folder[] = "/tmp/keyhole-context-XXXXXX";
static char path[128];

static void copy_program(mode_t mode)
{
	guard_fd int from = open("/bin/sleep", O_RDONLY | O_CLOEXEC), to = -1;
	struct stat status;

	snprintf(path, sizeof(path), "%s/sleep", folder);
	to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(from >= 0 && to >= 0 && fstat(from, &status) == 0);
	assert_int_equal(sendfile(to, from, NULL, (size_t)status.st_size), status.st_size);
	assert_int_equal(fchmod(to, mode), 0);
}

#define SERVICE "OTEL_SERVICE_NAME=checkout"

/* Starts the copy, which has three variables. */
static pid_t start_copy(void)
{
	static char sleeps[] = "sleep", seconds[] = "60", secret[] = "PASSWORD=secret",
		    service[] = SERVICE, other[] = "XOTEL_SERVICE_NAME=no";
	char *const arguments[] = {sleeps, seconds, NULL};
	char *const variables[] = {secret, service, other, NULL};
	char link[64], target[128] = "";
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execve(path, arguments, variables);
		_exit(1);
	}
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	while (strcmp(target, path) != 0) {
		ssize_t length = readlink(link, target, sizeof(target) - 1);

		assert_true(length > 0);
		target[length] = '\0';
		usleep(1000);
	}
	follow(pid, 0);
	return pid;
}

static void end_copy(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(path);
}

static struct message_context variables_of(pid_t pid)
{
	return (struct message_context){1, 0, 0, (uint32_t)pid, (uint32_t)pid};
}

static void test_context__variables(void **state)
{
	static const struct message_grant_rule rule = {{GRANT_RULE_VARIABLE}, "OTEL_SERVICE_NAME"};
	static const struct message_grant_rule other = {{GRANT_RULE_VARIABLE}, "OTEL_SERVICE"};
	struct message_context request;
	struct child child;
	pid_t pid;

	(void)state;
	copy_program(0755);
	pid = start_copy();
	request = variables_of(pid);
	start_ruled_broker(&child, segments, 0, &rule);
	check_bytes(&child, &request, SERVICE, sizeof(SERVICE));
	request.generation = 2;
	assert_int_equal(ask(&child, &request), -ESRCH);
	request.generation = 1;
	follow(pid, 1);
	assert_int_equal(ask(&child, &request), -EACCES);
	child_stop(&child);
	follow(pid, 0);
	assert_int_equal(judge(&request, &other), -ENODATA);
	assert_int_equal(judge(&request, NULL), -EOPNOTSUPP); /* the policy names none */
	end_copy(pid);
}

/* ---- control groups ---- */

static int ask_cgroups(struct child *child, pid_t pid, char *ret_text, size_t size)
{
	const struct message_maps request = {.pid = (uint32_t)pid, .thread = (uint32_t)pid};
	struct message message;
	ssize_t length;

	assert_int_equal(
		channel_send(&child->worker, MESSAGE_CGROUPS, &request, sizeof(request), -1), 0);
	assert_int_equal(channel_wait(&child->worker, CHILD_WAIT_MS, &message), 1);
	assert_int_equal(message.head.type, MESSAGE_CGROUPS_REPLY);
	assert_int_equal(message.fd >= 0, message.CGROUPS_REPLY.error == 0);
	if (message.fd < 0)
		return message.CGROUPS_REPLY.error;
	assert_int_equal(fcntl(message.fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	length = read(message.fd, ret_text, size - 1);
	assert_true(length >= 0);
	ret_text[length] = '\0';
	close(message.fd);
	return 0;
}

static void test_context__cgroups(void **state)
{
	struct child child;
	char text[4096];

	(void)state;
	start_broker(&child, segments);
	follow(getpid(), 0);
	assert_int_equal(ask_cgroups(&child, getpid(), text, sizeof(text)), 0);
	assert_non_null(strstr(text, "0::/"));
	follow(getpid(), 1);
	assert_int_equal(ask_cgroups(&child, getpid(), text, sizeof(text)), -EACCES);
	follow(getpid(), 0);
	assert_int_equal(ask_cgroups(&child, 1, text, sizeof(text)), -ENOENT);
	assert_int_equal(ask_cgroups(&child, 0, text, sizeof(text)), -EINVAL);
	child_stop(&child);
}

static void test_context__no_set_id_program(void **state)
{
	static const struct message_grant_rule rule = {{GRANT_RULE_VARIABLE}, "OTEL_SERVICE_NAME"};
	static const mode_t modes[] = {04755, 02755};

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		struct message_context request;
		pid_t pid;

		copy_program(modes[i]);
		pid = start_copy();
		request = variables_of(pid);
		assert_int_equal(judge(&request, &rule), -EACCES);
		end_copy(pid);
	}
}

/* The broker refuses rules that no policy makes. */
static void check_rule(const struct message_grant_rule *rule)
{
	struct child child;

	begin_ruled_broker(&child, segments, 0, rule);
	assert_int_equal(WEXITSTATUS(child_wait_exit(&child)), 1);
	child_stop(&child);
}

static void test_context__odd_rules(void **state)
{
	struct message_grant_rule rule = {.key = {GRANT_RULE_VARIABLE}};

	(void)state;
	check_rule(&rule); /* no name */
	memset(rule.name, 'x', sizeof(rule.name));
	check_rule(&rule); /* no end of the name */
}

static int make_folder(void **state)
{
	if (privsep_link_programs(state))
		return -1;
	segments = segment_map();
	if (!mkdtemp(folder))
		return -1;
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_context__gives_the_payload),
		cmocka_unit_test(test_context__gives_that_of_named_memory),
		cmocka_unit_test(test_context__needs_the_name),
		cmocka_unit_test(test_context__needs_memory_behind_the_name),
		cmocka_unit_test(test_context__checks_the_process),
		cmocka_unit_test(test_context__bounds_are_those_of_the_mapping),
		cmocka_unit_test(test_context__other_headers),
		cmocka_unit_test(test_context__large_payload),
		cmocka_unit_test(test_context__payloads_nowhere),
		cmocka_unit_test(test_context__payloads_in_files),
		cmocka_unit_test(test_context__memory_of_a_userfaultfd),
		cmocka_unit_test(test_context__policy),
		cmocka_unit_test(test_context__variables),
		cmocka_unit_test(test_context__cgroups),
		cmocka_unit_test(test_context__no_set_id_program),
		cmocka_unit_test(test_context__odd_rules),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

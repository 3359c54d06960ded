/* SPDX-License-Identifier: Apache-2.0 */
/* The broker as it runs; the test is loader and worker. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "tests/privsep/broker.h"
#include "tests/privsep/privsep.h"

/* A process of another user, as hard to look into as can be, with mappings of all kinds. */
static void be_target(const void *fds)
{
	for (const int *fd = fds; *fd >= 0; fd++)
		mmap(NULL, 4096, PROT_READ, MAP_SHARED, *fd, 0);
	if (setresgid(GROUP_ID, GROUP_ID, GROUP_ID) || setresuid(USER_ID, USER_ID, USER_ID))
		_exit(1);
}

/* Its uid is the last thing that it changes. */
static void wait_for_user(pid_t pid)
{
	char path[32], line[256];
	bool changed = false;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	for (int i = 0; i < 200 && !changed; i++) {
		FILE *file = fopen(path, "re");

		assert_non_null(file);
		while (!changed && fgets(line, sizeof(line), file))
			changed = strncmp(line, "Uid:\t1000\t", 10) == 0;
		fclose(file);
		poll(NULL, 0, 5);
	}
	assert_true(changed);
}

/* The first mapping of that text in a maps file, as a request. */
static struct message_object find_mapping(int maps, pid_t pid, const char *text)
{
	struct message_object object = {.pid = (uint32_t)pid, .thread = (uint32_t)pid};
	FILE *file = fdopen(dup(maps), "r");
	unsigned long long start, end;
	char line[512];

	assert_non_null(file);
	rewind(file);
	while (fgets(line, sizeof(line), file)) {
		if (!strstr(line, text) || sscanf(line, "%llx-%llx", &start, &end) != 2)
			continue;
		object.start = start;
		object.end = end;
		break;
	}
	fclose(file);
	if (!object.end)
		fail_msg("no mapping of %s", text);
	return object;
}

/* The target is a fork of ours. */
static void find_libc(struct stat *ret_status)
{
	char line[512], path[256];
	FILE *file = fopen("/proc/self/maps", "re");
	bool found = false;

	assert_non_null(file);
	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, "/libc.so.6") &&
			sscanf(line, "%*s %*s %*s %*s %*s %255s", path) == 1;
	fclose(file);
	assert_true(found);
	assert_int_equal(stat(path, ret_status), 0);
}

static void check_object(struct child *child, const struct message_object *object,
			 const struct stat *expected)
{
	struct message_object wanted = *object;
	const struct message_object_reply *reply;
	struct message message;
	struct stat status;

	assert_int_equal(ask_object(child, object, &message), 0);
	assert_int_equal(message.fd, -1);
	reply = &message.OBJECT_REPLY;
	assert_int_equal(reply->device, expected->st_dev);
	assert_int_equal(reply->inode, expected->st_ino);
	assert_int_equal(reply->size, expected->st_size);
	assert_int_equal(reply->change_seconds, expected->st_ctim.tv_sec);
	assert_int_equal(reply->change_nanoseconds, expected->st_ctim.tv_nsec);
	wanted.flags = OBJECT_WANT_FD;
	assert_int_equal(ask_object(child, &wanted, &message), 0);
	assert_int_equal(fstat(message.fd, &status), 0);
	assert_int_equal(status.st_ino, expected->st_ino);
	assert_int_equal(fcntl(message.fd, F_GETFL) & (O_ACCMODE | O_PATH), O_RDONLY);
	message_release(&message);
}

/*
 * A process with mappings of each kind. A deleted file and a memfd are opened again for reading, as
 * programs are. Memory of the kernel is no regular file. A file and a memfd are open for writing.
 */
struct target {
	pid_t pid;
	int fds[6];
	struct stat deleted, memory;
};

static int open_again(int fd)
{
	char path[32];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(again >= 0);
	close(fd);
	return again;
}

static int open_written(void)
{
	char path[] = "/tmp/keyhole-written-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	assert_int_equal(ftruncate(fd, 5000), 0);
	unlink(path);
	return fd;
}

static void start_target(struct target *target)
{
	char path[] = "/tmp/keyhole-test-XXXXXX";

	target->fds[0] = mkostemp(path, O_CLOEXEC);
	target->fds[1] = memfd_create("some code", MFD_CLOEXEC);
	target->fds[2] = bpf_array(BPF_MAP_TYPE_ARRAY, 4096, 1, -1);
	target->fds[3] = open_written();
	target->fds[4] = memfd_create("some data", MFD_CLOEXEC);
	target->fds[5] = -1;
	assert_int_equal(ftruncate(target->fds[0], 5000), 0);
	assert_int_equal(ftruncate(target->fds[1], 6000), 0);
	assert_int_equal(ftruncate(target->fds[4], 6000), 0);
	for (int i = 0; i < 2; i++)
		target->fds[i] = open_again(target->fds[i]);
	target->pid = privsep_start(be_target, target->fds);
	wait_for_user(target->pid);
	follow(target->pid, 0);
	unlink(path);
	fstat(target->fds[0], &target->deleted);
	fstat(target->fds[1], &target->memory);
}

static void stop_target(struct target *target)
{
	privsep_end(target->pid);
	for (int i = 0; i < 5; i++)
		close(target->fds[i]);
}

static void test_broker__refuses_what_is_open_for_writing(void **state)
{
	static const char *const names[] = {"/tmp/keyhole-written-", "/memfd:some data"};
	struct message_object object;
	struct message message;
	struct target target;
	struct child child;
	int map = segment_map(), maps;

	(void)state;
	start_target(&target);
	start_broker(&child, map);
	assert_int_equal(ask_maps(&child, (uint32_t)target.pid, &maps), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		object = find_mapping(maps, target.pid, names[i]);
		assert_int_equal(ask_object(&child, &object, &message), -EACCES);
		assert_int_equal(message.OBJECT_REPLY.inode, 0);
		object.flags = OBJECT_WANT_FD;
		assert_int_equal(ask_object(&child, &object, &message), -EACCES);
		assert_int_equal(message.fd, -1);
	}
	close(maps);
	child_stop(&child);
	stop_target(&target);
	close(map);
}

static void test_broker__opens_maps_and_objects(void **state)
{
	struct child child;
	struct target target;
	struct message_object object;
	struct message message;
	struct stat libc;
	int map = segment_map(), maps;

	(void)state;
	start_target(&target);
	start_broker(&child, map);
	assert_int_equal(policy_verify(ROLE_BROKER, child.pid, 2), 0);
	assert_int_equal(ask_maps(&child, (uint32_t)target.pid, &maps), 0);

	object = find_mapping(maps, target.pid, "/libc.so.6");
	find_libc(&libc);
	check_object(&child, &object, &libc);
	object = find_mapping(maps, target.pid, "/tmp/keyhole-test-");
	check_object(&child, &object, &target.deleted);
	object = find_mapping(maps, target.pid, "/memfd:some code");
	check_object(&child, &object, &target.memory);

	object = find_mapping(maps, target.pid, "anon_inode:");
	object.flags = OBJECT_WANT_FD;
	assert_int_equal(ask_object(&child, &object, &message), -EACCES);
	object = find_mapping(maps, target.pid, "[stack]");
	assert_int_equal(ask_object(&child, &object, &message), -ENOENT);
	close(maps);
	child_stop(&child);
	stop_target(&target);
	close(map);
}

static void test_broker__opens_an_object_once_a_minute(void **state)
{
	struct message first, second;
	struct message_object object;
	struct target target;
	struct child child;
	int map = segment_map(), maps;

	(void)state;
	start_target(&target);
	start_broker(&child, map);
	assert_int_equal(ask_maps(&child, (uint32_t)target.pid, &maps), 0);
	object = find_mapping(maps, target.pid, "/libc.so.6");
	object.flags = OBJECT_WANT_FD;
	assert_int_equal(ask_object(&child, &object, &first), 0);
	assert_true(first.fd >= 0);
	assert_int_equal(ask_object(&child, &object, &second), 0);
	assert_int_equal(second.fd, -1);
	assert_int_equal(second.OBJECT_REPLY.inode, first.OBJECT_REPLY.inode);
	message_release(&first);
	object = find_mapping(maps, target.pid, "/tmp/keyhole-test-");
	object.flags = OBJECT_WANT_FD;
	assert_int_equal(ask_object(&child, &object, &first), 0);
	assert_true(first.fd >= 0);
	message_release(&first);
	child_stop(&child);

	start_broker(&child, map); /* which another worker has */
	assert_int_equal(ask_object(&child, &object, &first), 0);
	assert_true(first.fd >= 0);
	message_release(&first);
	close(maps);
	child_stop(&child);
	stop_target(&target);
	close(map);
}

#define FLOOD 64

/*
 * Sends requests before it looks at their answers. The broker's share grows by 5,000 a second, and
 * a busy machine may not do more switches. Returns the last answer.
 */
static int flood(struct child *child)
{
	const struct message_maps maps = {.pid = PROCESS_PID_MAX, .thread = PROCESS_PID_MAX};
	struct message message;

	for (int i = 0; i < FLOOD; i++)
		assert_int_equal(
			channel_send(&child->worker, MESSAGE_MAPS, &maps, sizeof(maps), -1), 0);
	for (int i = 0; i < FLOOD; i++) {
		assert_int_equal(channel_wait(&child->worker, CHILD_WAIT_MS, &message), 1);
		assert_int_equal(message.head.type, MESSAGE_MAPS_REPLY);
	}
	return message.MAPS_REPLY.error;
}

static void test_broker__answers_floods_with_later(void **state)
{
	struct child child;
	int map = segment_map(), fd, r = -ENOENT, answered = 0;

	(void)state;
	start_broker(&child, map);
	for (; r == -ENOENT && answered < 400000; answered += FLOOD)
		r = flood(&child);
	assert_int_equal(r, -EAGAIN);
	assert_true(answered > 65536);
	poll(NULL, 0, 20);
	assert_int_equal(ask_maps(&child, PROCESS_PID_MAX, &fd), -ENOENT);
	child_stop(&child);
	close(map);
}

static void test_broker__refuses_without_ending(void **state)
{
	static const struct message_object refused[] = {
		{.start = 0x1000, .end = 0x2000, .pid = 0},
		{.start = 0x1000, .end = 0x2000, .pid = 1u << 22},
		{.start = 0x1000, .end = 0x2000, .pid = 1, .flags = 2},
		{.start = 0x1001, .end = 0x2000, .pid = 1},
		{.start = 0x1000, .end = 0x2fff, .pid = 1},
		{.start = 0x2000, .end = 0x2000, .pid = 1},
		{.start = 0x3000, .end = 0x2000, .pid = 1},
	};
	struct message_object absent = {.start = 0x1000,
					.end = 0x2000,
					.pid = (uint32_t)getpid(),
					.thread = (uint32_t)getpid()};
	struct child child;
	struct message message;
	int map = segment_map(), fd;

	(void)state;
	start_broker(&child, map);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		assert_int_equal(ask_object(&child, &refused[i], &message), -EINVAL);
		assert_int_equal(message.OBJECT_REPLY.inode, 0);
	}
	assert_int_equal(ask_object(&child, &absent, &message), -ENOENT);
	assert_int_equal(ask_maps(&child, 0, &fd), -EINVAL);
	assert_int_equal(ask_maps(&child, ~0u, &fd), -EINVAL);
	assert_int_equal(ask_maps(&child, PROCESS_PID_MAX, &fd), -ENOENT);
	assert_int_equal(ask_maps(&child, (uint32_t)getpid(), &fd), 0);
	close(fd);
	child_stop(&child);
	close(map);
}

/* A process that BPF does not know, and a process that a rule denies. */
static void test_broker__refuses_denied_processes(void **state)
{
	const uint32_t self = (uint32_t)getpid();
	struct message_object object;
	struct message message;
	struct child child;
	int map = segment_map(), maps;

	(void)state;
	start_broker(&child, map);
	assert_int_equal(ask_maps(&child, self, &maps), 0);
	object = find_mapping(maps, getpid(), "/libc.so.6");
	close(maps);
	follow(getpid(), 1);
	assert_int_equal(ask_maps(&child, self, &maps), -EACCES);
	object.flags = OBJECT_WANT_FD;
	assert_int_equal(ask_object(&child, &object, &message), -EACCES);
	assert_int_equal(message.fd, -1);
	assert_int_equal(message.OBJECT_REPLY.inode, 0);
	assert_int_equal(ask_maps(&child, 1, &maps), -ENOENT);
	child_stop(&child);
	close(map);
}

static volatile pid_t thread_id;

static void *be_thread(void *until)
{
	thread_id = (pid_t)syscall(SYS_gettid);
	while (!*(volatile bool *)until)
		usleep(1000);
	return NULL;
}

/* Through a thread of the process: the main one may have exited. Through no other's. */
static void test_broker__finds_a_process_by_its_threads(void **state)
{
	const uint32_t self = (uint32_t)getpid();
	struct message_object object;
	struct message message;
	bool until = false;
	pthread_t thread;
	struct child child;
	int map = segment_map(), maps;

	(void)state;
	start_broker(&child, map);
	assert_int_equal(pthread_create(&thread, NULL, be_thread, &until), 0);
	while (!thread_id)
		usleep(1000);
	assert_int_equal(ask_thread(&child, self, (uint32_t)thread_id, &maps), 0);
	object = find_mapping(maps, getpid(), "/libc.so.6");
	close(maps);
	object.thread = (uint32_t)thread_id;
	assert_int_equal(ask_object(&child, &object, &message), 0);
	assert_int_equal(ask_thread(&child, self, 1, &maps), -ENOENT);
	assert_int_equal(ask_maps(&child, (uint32_t)thread_id, &maps), -ENOENT);
	object.thread = 1;
	assert_int_equal(ask_object(&child, &object, &message), -ENOENT);
	follow(getpid(), 1);
	assert_int_equal(ask_thread(&child, self, (uint32_t)thread_id, &maps), -EACCES);
	*(volatile bool *)&until = true;
	pthread_join(thread, NULL);
	child_stop(&child);
	close(map);
}

static void test_broker__gives_no_segment_twice(void **state)
{
	struct child child;
	int map = segment_map(), fd;
	uint32_t *words;

	(void)state;
	start_broker(&child, map);
	assert_int_equal(ask_segment(&child, 0, &fd), 0);
	words = mmap(NULL, SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(words != MAP_FAILED);
	words[SEGMENT_WORDS - 1] = 7;
	munmap(words, SEGMENT_BYTES);
	close(fd);
	assert_int_equal(ask_segment(&child, 0, &fd), -EEXIST);
	assert_int_equal(ask_segment(&child, 2, &fd),
			 0); /* an earlier broker gave the one between */
	close(fd);
	assert_int_equal(ask_segment(&child, 1, &fd), -EEXIST);
	assert_int_equal(ask_segment(&child, SEGMENT_MAX, &fd), -EINVAL);
	child_stop(&child);

	start_broker_at(&child, map, 3); /* another one begins where the loader says */
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(ask_segment(&child, i, &fd), -EEXIST);
	assert_int_equal(ask_segment(&child, 3, &fd), 0);
	close(fd);
	child_stop(&child);

	start_broker_at(&child, map, 1); /* another worker has its own in the place of these */
	for (uint32_t i = 1; i < 4; i++) {
		assert_int_equal(ask_segment(&child, i, &fd), 0);
		words = mmap(NULL, SEGMENT_BYTES, PROT_READ, MAP_SHARED, fd, 0);
		assert_true(words != MAP_FAILED);
		assert_int_equal(words[SEGMENT_WORDS - 1], 0);
		munmap(words, SEGMENT_BYTES);
		close(fd);
	}
	child_stop(&child);
	close(map);
}

/* Asks for the segment, and leaves alone what the loader is told. Returns the answer's error. */
static int ask_unheard(struct child *child, uint32_t index)
{
	const struct message_segment segment = {.index = index};
	struct message reply;
	bool granted;

	assert_int_equal(
		channel_send(&child->worker, MESSAGE_SEGMENT, &segment, sizeof(segment), -1), 0);
	assert_int_equal(channel_wait(&child->worker, CHILD_WAIT_MS, &reply), 1);
	granted = reply.fd >= 0;
	message_release(&reply);
	assert_int_equal(reply.SEGMENT_REPLY.error == 0, granted);
	return reply.SEGMENT_REPLY.error;
}

/* The broker goes on, without a segment that the loader would not know. */
static void test_broker__a_loader_that_does_not_read(void **state)
{
	struct child child;
	int map = segment_map();
	uint32_t granted = 0;
	struct message given;
	int r;

	(void)state;
	start_broker(&child, map);
	while ((r = ask_unheard(&child, granted)) == 0)
		granted++;
	assert_int_equal(r, -EAGAIN);
	for (uint32_t i = 0; i < granted; i++) {
		assert_int_equal(channel_receive(&child.loader, &given), 1);
		assert_int_equal(given.SEGMENT_GIVEN.index, i);
	}
	assert_int_equal(channel_receive(&child.loader, &given), 0);
	assert_int_equal(ask_unheard(&child, granted), -EEXIST);
	assert_int_equal(ask_unheard(&child, granted + 1), 0);
	child_stop(&child);
	close(map);
}

/* The penal broker gives none. */
static void test_broker__has_no_segment_to_give(void **state)
{
	struct child child;
	int map = segment_map(), fd;

	(void)state;
	start_broker_at(&child, map, SEGMENT_MAX);
	for (uint32_t i = 0; i < SEGMENT_MAX; i++)
		assert_int_equal(ask_segment(&child, i, &fd), -EEXIST);
	assert_int_equal(ask_segment(&child, SEGMENT_MAX, &fd), -EINVAL);
	child_stop(&child);
	close(map);
}

static void test_broker__ends_on_a_violation(void **state)
{
	struct message_head head = {MESSAGE_MAGIC, MESSAGE_MAPS, MESSAGE_VERSION, 1, 0};
	struct child child;
	int map = segment_map();

	(void)state;
	start_broker(&child, map);
	assert_int_equal(write(child.worker.fd, &head, sizeof(head)), sizeof(head));
	assert_int_equal(WEXITSTATUS(child_wait_exit(&child)), 1);
	child_stop(&child);
	close(map);
}

static void test_broker__wants_a_map_of_maps(void **state)
{
	struct child child;

	(void)state;
	child_start(&child, ROLE_BROKER);
	give_map(&child, 0, 0);
	assert_int_equal(WEXITSTATUS(child_wait_exit(&child)), 1);
	child_stop(&child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_broker__opens_maps_and_objects),
		cmocka_unit_test(test_broker__refuses_what_is_open_for_writing),
		cmocka_unit_test(test_broker__opens_an_object_once_a_minute),
		cmocka_unit_test(test_broker__answers_floods_with_later),
		cmocka_unit_test(test_broker__refuses_without_ending),
		cmocka_unit_test(test_broker__refuses_denied_processes),
		cmocka_unit_test(test_broker__finds_a_process_by_its_threads),
		cmocka_unit_test(test_broker__gives_no_segment_twice),
		cmocka_unit_test(test_broker__a_loader_that_does_not_read),
		cmocka_unit_test(test_broker__has_no_segment_to_give),
		cmocka_unit_test(test_broker__ends_on_a_violation),
		cmocka_unit_test(test_broker__wants_a_map_of_maps),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, privsep_link_programs, NULL);
}

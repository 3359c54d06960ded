/* SPDX-License-Identifier: Apache-2.0 */
/* The broker opens perf-PID.map: of processes of many kinds, and no other file. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "tests/privsep/broker.h"
#include "tests/privsep/privsep.h"

#define OTHER_ID 64008
#define PAGE	 4096u

struct target {
	pid_t pid;
	char path[64]; /* of its map */
};

/* A process of a user, whose map the caller writes. */
static struct target start_target(void)
{
	struct target target = {.pid = fork()};

	assert_true(target.pid >= 0);
	if (target.pid == 0) {
		if (setresgid(USER_ID, USER_ID, USER_ID) || setresuid(USER_ID, USER_ID, USER_ID))
			_exit(1);
		raise(SIGSTOP);
		pause();
		_exit(0);
	}
	assert_int_equal(waitpid(target.pid, NULL, WUNTRACED), target.pid);
	snprintf(target.path, sizeof(target.path), "/tmp/perf-%d.map", (int)target.pid);
	follow(target.pid, 0);
	return target;
}

static void end_target(const struct target *target)
{
	kill(target->pid, SIGKILL);
	waitpid(target->pid, NULL, 0);
	unlink(target->path);
}

static void write_map(const char *path, uid_t uid)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "1 1 x\n", 6), 6);
	assert_int_equal(fchown(fd, uid, uid), 0);
	close(fd);
}

static int ask_file(struct child *child, const struct message_code_file *request, int *ret_fd)
{
	struct message message;

	assert_int_equal(
		channel_send(&child->worker, MESSAGE_CODE_FILE, request, sizeof(*request), -1), 0);
	assert_int_equal(channel_wait(&child->worker, CHILD_WAIT_MS, &message), 1);
	assert_int_equal(message.head.type, MESSAGE_CODE_FILE_REPLY);
	assert_int_equal(message.head.reply_to, child->worker.sent);
	*ret_fd = message.fd;
	return message.CODE_FILE_REPLY.error;
}

static int ask_generation(struct child *child, pid_t pid, uint64_t generation, int *ret_fd)
{
	const struct message_code_file request = {
		.generation = generation, .pid = (uint32_t)pid, .thread = (uint32_t)pid};

	return ask_file(child, &request, ret_fd);
}

static int ask(struct child *child, const struct target *target)
{
	int fd;
	int r = ask_generation(child, target->pid, 1, &fd);

	assert_int_equal(fd >= 0, r == 0);
	if (fd >= 0)
		close(fd);
	return r;
}

static void check_opened(int fd)
{
	char text[8];

	assert_int_equal(fcntl(fd, F_GETFL) & (O_ACCMODE | O_PATH), O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text)), 6);
	assert_memory_equal(text, "1 1 x\n", 6);
	close(fd);
}

static void test_code_file__opens(void **state)
{
	struct target target = start_target();
	struct child child;
	int map = segment_map(), fd;

	(void)state;
	start_broker(&child, map);
	assert_int_equal(ask(&child, &target), -ENOENT);
	write_map(target.path, USER_ID);
	assert_int_equal(ask_generation(&child, target.pid, 1, &fd), 0);
	check_opened(fd);
	child_stop(&child);
	end_target(&target);
	close(map);
}

static void test_code_file__checks_the_process(void **state)
{
	struct generation exec = {.number = 1, .family = 1, .mm = MM_OF_EXEC};
	struct target target = start_target();
	struct child child;
	int map = segment_map(), fd;

	(void)state;
	write_map(target.path, USER_ID);
	start_broker(&child, map);
	assert_int_equal(ask_generation(&child, target.pid, 2, &fd), -ESRCH);
	assert_int_equal(ask_generation(&child, getppid(), 1, &fd), -ENOENT);
	assert_int_equal(ask_generation(&child, 0, 1, &fd), -EINVAL);
	follow(target.pid, 1);
	assert_int_equal(ask(&child, &target), -EACCES);
	follow_as(target.pid, &exec);
	assert_int_equal(ask(&child, &target), -ESRCH);
	follow(target.pid, 0);
	assert_int_equal(ask(&child, &target), 0);
	child_stop(&child);
	end_target(&target);
	close(map);
}

static void make_link(const char *path)
{
	assert_int_equal(symlink("/etc/passwd", path), 0);
}

static void make_fifo(const char *path)
{
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(chown(path, USER_ID, USER_ID), 0);
}

static void make_folder(const char *path)
{
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chown(path, USER_ID, USER_ID), 0);
}

static void make_of_root(const char *path)
{
	write_map(path, 0);
}

static void make_of_another(const char *path)
{
	write_map(path, OTHER_ID);
}

static void make_own_link(const char *path)
{
	char other[80];

	snprintf(other, sizeof(other), "%s.other", path);
	write_map(other, USER_ID);
	assert_int_equal(symlink(other, path), 0);
}

static void make_second_name(const char *path)
{
	char other[80];

	snprintf(other, sizeof(other), "%s.other", path);
	write_map(other, USER_ID);
	assert_int_equal(link(other, path), 0);
}

static void test_code_file__refuses_other_files(void **state)
{
	static void (*const makers[])(const char *) = {
		make_link,	 make_fifo,	make_folder,	  make_of_root,
		make_of_another, make_own_link, make_second_name,
	};
	struct target target = start_target();
	struct child child;
	char other[80];
	int map = segment_map();

	(void)state;
	snprintf(other, sizeof(other), "%s.other", target.path);
	start_broker(&child, map);
	for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++) {
		makers[i](target.path);
		assert_int_equal(ask(&child, &target), -EACCES);
		if (unlink(target.path))
			rmdir(target.path);
		unlink(other);
	}
	write_map(target.path, USER_ID);
	assert_int_equal(ask(&child, &target), 0);
	child_stop(&child);
	end_target(&target);
	close(map);
}

static void test_code_file__policy(void **state)
{
	const struct message_grant_rule rule = {.key = {GRANT_RULE_NO_CODE_FILES}};
	struct target target = start_target();
	struct child child;
	int map = segment_map();

	(void)state;
	write_map(target.path, USER_ID);
	start_ruled_broker(&child, map, 0, &rule);
	assert_int_equal(ask(&child, &target), -EPERM);
	child_stop(&child);
	end_target(&target);
	close(map);
}

/*
 * Starts a process whose child has namespaces of mounts and pids of its own, and the /tmp that the
 * function mounts. The child is the first process there.
 */
static pid_t start_outside(void (*mount_tmp)(void))
{
	char ready = 0;
	int pair[2];
	pid_t outer;

	assert_int_equal(pipe(pair), 0);
	outer = fork();
	assert_true(outer >= 0);
	if (outer == 0) {
		if (unshare(CLONE_NEWNS | CLONE_NEWPID) ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
			_exit(1);
		if (fork() == 0) {
			mount_tmp();
			if (write(pair[1], "x", 1) == 1)
				pause();
			_exit(1);
		}
		close(pair[1]);
		wait(NULL);
		_exit(0);
	}
	close(pair[1]);
	assert_int_equal(read(pair[0], &ready, 1), 1);
	close(pair[0]);
	return outer;
}

/* Returns the only child of a process. */
static pid_t child_of(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &child), 1);
	fclose(file);
	return child;
}

static void mount_tmpfs(void)
{
	if (mount("none", "/tmp", "tmpfs", 0, NULL))
		_exit(1);
	write_map("/tmp/perf-1.map", 0);
}

/* proc stands for each file system that may keep the broker waiting. */
static void mount_proc(void)
{
	if (mount("none", "/tmp", "proc", 0, NULL))
		_exit(1);
}

static void link_tmp(void)
{
	if (mount("none", "/mnt", "tmpfs", 0, NULL) || mkdir("/mnt/real", 0777) ||
	    symlink("real", "/mnt/tmp") || chroot("/mnt"))
		_exit(1);
	write_map("/real/perf-1.map", 0);
}

static void test_code_file__namespaces(void **state)
{
	static const struct {
		void (*mount_tmp)(void);
		int error;
	} rows[] = {{mount_tmpfs, 0}, {mount_proc, -EACCES}, {link_tmp, -EACCES}};
	int map = segment_map(), fd;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const pid_t outer = start_outside(rows[i].mount_tmp), inner = child_of(outer);
		struct child child;

		follow(inner, 0);
		start_broker(&child, map);
		assert_int_equal(ask_generation(&child, inner, 1, &fd), rows[i].error);
		if (rows[i].error == 0)
			check_opened(fd);
		child_stop(&child);
		kill(inner, SIGKILL);
		waitpid(outer, NULL, 0);
	}
	close(map);
}

/* ---- dumps ---- */

/* Maps a file as a program maps its dump. Returns the address. */
static uint64_t map_dump(const char *path)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *at;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "1 1 x\n", 6), 6);
	at = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(at != MAP_FAILED);
	close(fd);
	return (uint64_t)(uintptr_t)at;
}

static int ask_dump(struct child *child, uint64_t start, int *ret_fd)
{
	const uint32_t pid = (uint32_t)getpid();
	const struct message_code_file request = {1, start, start + PAGE, pid, pid};

	return ask_file(child, &request, ret_fd);
}

static void test_code_file__dumps(void **state)
{
	char folder[] = "/tmp/keyhole-dump-XXXXXX", path[96], other[96];
	struct child child;
	int map = segment_map(), fd;
	uint64_t start;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, (int)getpid());
	snprintf(other, sizeof(other), "%s/jit-%d.dump", folder, (int)getppid());
	start_broker(&child, map);
	start = map_dump(other); /* the dump of another process */
	assert_int_equal(ask_dump(&child, start, &fd), -EACCES);
	start = map_dump(path);
	assert_int_equal(ask_dump(&child, start, &fd), 0);
	check_opened(fd);
	assert_int_equal(ask_dump(&child, start + PAGE / 2, &fd), -EINVAL);
	assert_int_equal(ask_dump(&child, start + 64 * PAGE, &fd), -ENOENT);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(link(path, other), 0); /* a second name */
	assert_int_equal(ask_dump(&child, start, &fd), -EACCES);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(chown(path, USER_ID, USER_ID), 0);
	assert_int_equal(ask_dump(&child, start, &fd), -EACCES);
	child_stop(&child);
	unlink(path);
	rmdir(folder);
	close(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_file__opens),
		cmocka_unit_test(test_code_file__checks_the_process),
		cmocka_unit_test(test_code_file__refuses_other_files),
		cmocka_unit_test(test_code_file__policy),
		cmocka_unit_test(test_code_file__namespaces),
		cmocka_unit_test(test_code_file__dumps),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, privsep_link_programs, NULL);
}

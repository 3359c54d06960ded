/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuse MOUNTPOINT FILE: a file system in user space, spoken over /dev/fuse without a library, that
 * has one file, "program", with the bytes of FILE. It says "ready" when it is mounted; from SIGUSR1
 * on it reads requests and never answers one. It ends with its mount at SIGTERM. linux/fuse.h
 *
 * fuse MOUNTPOINT FILE hold PLAN DEVICE: the same as an unprivileged user, in that user's
 * namespaces. It never answers FLUSH, and starts programs, ten a second. Each opens "program"
 * close-on-exec and starts the next program: so its exec waits for the FLUSH, and holds
 * exec_update_lock. PLAN "one": in one session. "many": each in a session of its own. "late": as
 * "one", but it answers FLUSH after 100 ms.
 *
 * fuse MOUNTPOINT FILE hold PLAN DEVICE GROUP: each program also has a user and a cgroup of its
 * own. It makes the cgroups below GROUP, where it runs; the users are subordinate ones.
 */
#include <errno.h>
#include <grp.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/hostile/targets/hostile.h"

#define FILE_ID	     2
#define BUFFER_BYTES (FUSE_MIN_READ_BUFFER + (1u << 20))
#define USER	     65000 /* nobody's, as are the subordinate users that follow */
#define USERS	     1000
#define GAP_US	     100000
#define LATE_US	     100000

static volatile sig_atomic_t silent, ended;
static int holds; /* never answers FLUSH */
static int late;  /* answers FLUSH late all the same */
static char *bytes;
static uint64_t file_bytes;

static void on_signal(int number)
{
	if (number == SIGUSR1)
		silent = 1;
	else
		ended = 1;
}

static void answer(int fd, const struct fuse_in_header *in, int error, const void *data,
		   size_t size)
{
	static char buffer[BUFFER_BYTES];
	struct fuse_out_header head = {.error = error, .unique = in->unique};

	head.len = (uint32_t)(sizeof(head) + (error ? 0 : size));
	memcpy(buffer, &head, sizeof(head));
	if (!error && size > 0)
		memcpy(buffer + sizeof(head), data, size);
	if (write(fd, buffer, head.len) < 0 && errno != ENOENT)
		perror("fuse: write");
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){.ino = node,
				  .size = node == FILE_ID ? file_bytes : 0,
				  .mode = node == FILE_ID ? S_IFREG | 0755 : S_IFDIR | 0755,
				  .nlink = 1,
				  .blksize = 4096};
}

static void on_init(int fd, const struct fuse_in_header *in, const void *body)
{
	const struct fuse_init_in *init = body;
	const struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
					  .minor = FUSE_KERNEL_MINOR_VERSION,
					  .max_readahead = init->max_readahead,
					  .max_write = 4096};

	answer(fd, in, 0, &out, sizeof(out));
}

static void on_lookup(int fd, const struct fuse_in_header *in, const void *body)
{
	const struct fuse_entry_out out = {.nodeid = FILE_ID,
					   .entry_valid = 1000,
					   .attr_valid = 1000,
					   .attr = attributes(FILE_ID)};

	answer(fd, in, strcmp(body, "program") ? -ENOENT : 0, &out, sizeof(out));
}

static void on_getattr(int fd, const struct fuse_in_header *in, const void *body)
{
	const struct fuse_attr_out out = {.attr_valid = 1000, .attr = attributes(in->nodeid)};

	(void)body;
	answer(fd, in, 0, &out, sizeof(out));
}

static void on_open(int fd, const struct fuse_in_header *in, const void *body)
{
	const struct fuse_open_out out = {.fh = 1, .open_flags = FOPEN_KEEP_CACHE};

	(void)body;
	answer(fd, in, 0, &out, sizeof(out));
}

static void on_read(int fd, const struct fuse_in_header *in, const void *body)
{
	const struct fuse_read_in *request = body;
	uint64_t left = request->offset < file_bytes ? file_bytes - request->offset : 0;

	answer(fd, in, 0, bytes + (left ? request->offset : 0),
	       left < request->size ? left : request->size);
}

static void on_statfs(int fd, const struct fuse_in_header *in, const void *body)
{
	const struct fuse_statfs_out out = {.st = {.bsize = 4096, .namelen = 255, .frsize = 4096}};

	(void)body;
	answer(fd, in, 0, &out, sizeof(out));
}

static void on_nothing(int fd, const struct fuse_in_header *in, const void *body)
{
	(void)body;
	answer(fd, in, 0, NULL, 0);
}

static void on_forget(int fd, const struct fuse_in_header *in, const void *body)
{
	(void)fd;
	(void)in;
	(void)body;
}

static void (*const handlers[])(int, const struct fuse_in_header *, const void *) = {
	[FUSE_INIT] = on_init,	     [FUSE_LOOKUP] = on_lookup,	      [FUSE_GETATTR] = on_getattr,
	[FUSE_OPEN] = on_open,	     [FUSE_OPENDIR] = on_open,	      [FUSE_READ] = on_read,
	[FUSE_READDIR] = on_nothing, [FUSE_FLUSH] = on_nothing,	      [FUSE_RELEASE] = on_nothing,
	[FUSE_STATFS] = on_statfs,   [FUSE_RELEASEDIR] = on_nothing,  [FUSE_ACCESS] = on_nothing,
	[FUSE_FORGET] = on_forget,   [FUSE_BATCH_FORGET] = on_forget, [FUSE_INTERRUPT] = on_forget,
};

static void answer_late(int fd, const struct fuse_in_header *head)
{
	if (fork() != 0)
		return;
	usleep(LATE_US);
	answer(fd, head, 0, NULL, 0);
	_exit(0);
}

static void serve(int fd)
{
	static union {
		struct fuse_in_header head;
		char bytes[BUFFER_BYTES];
	} request;
	ssize_t got;

	while (!ended) {
		got = read(fd, &request, sizeof(request));
		if (got < 0 && errno == ENODEV)
			return;
		if (got < (ssize_t)sizeof(request.head) || silent)
			continue;
		if (holds && request.head.opcode == FUSE_FLUSH) {
			if (late)
				answer_late(fd, &request.head);
			continue;
		}
		if (request.head.opcode < sizeof(handlers) / sizeof(*handlers) &&
		    handlers[request.head.opcode])
			handlers[request.head.opcode](fd, &request.head,
						      request.bytes + sizeof(request.head));
		else
			answer(fd, &request.head, -ENOSYS, NULL, 0);
	}
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(path);
	close(fd);
}

static void become_user(void)
{
	if (setgroups(0, NULL) || setresgid(USER, USER, USER) || setresuid(USER, USER, USER))
		fail("setresuid");
	prctl(PR_SET_DUMPABLE, 1); /* else root owns /proc/self */
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) {
		puts("no namespaces of a user's here");
		exit(77);
	}
}

static void map_user(void)
{
	write_text("/proc/self/uid_map", "0 65000 1");
	write_text("/proc/self/setgroups", "deny");
	write_text("/proc/self/gid_map", "0 65000 1");
}

/* Forks a child that does as newuidmap(1), as root, for its parent. Returns where to tell it. */
static int start_mapper(void)
{
	char uids[64], gids[64], text[64];
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		fail("pipe");
	snprintf(uids, sizeof(uids), "/proc/%d/uid_map", getpid());
	snprintf(gids, sizeof(gids), "/proc/%d/gid_map", getpid());
	if (fork() > 0) {
		close(fds[0]);
		return fds[1];
	}
	close(fds[1]);
	if (read(fds[0], text, 1) != 1)
		_exit(1);
	snprintf(text, sizeof(text), "0 %d %d", USER, USERS);
	write_text(uids, text);
	write_text(gids, text);
	_exit(0);
}

static void map_users(int mapper)
{
	int status;

	if (write(mapper, "", 1) != 1 || wait(&status) < 0 || status != 0)
		fail("uid_map");
}

/* Makes the current process that of another user, in a cgroup that nobody else is in. */
static void move_apart(const char *group, unsigned int number)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%u", group, number);
	if (mkdir(path, 0755))
		fail(path);
	snprintf(path, sizeof(path), "%s/%u/cgroup.procs", group, number);
	write_text(path, "0");
	if (setresuid(number, number, number))
		fail("setresuid");
}

/* Starts programs until the parent ends. Those that hold stay until the mount is gone. */
static void attack(const char *path, int apart, const char *group)
{
	pid_t parent = getppid();

	signal(SIGCHLD, SIG_IGN);
	for (unsigned int number = 1; getppid() == parent && number < USERS; number++) {
		if (fork() == 0) {
			if (apart)
				setsid();
			if (group)
				move_apart(group, number);
			execl("/proc/self/exe", "holder", path, NULL);
			_exit(1);
		}
		usleep(GAP_US);
	}
	_exit(0);
}

/* The second program of a chain: the profiler asks for it while it starts the third one. */
static int hold(const char *path)
{
	if (open(path, O_RDONLY | O_CLOEXEC) < 0)
		return 1;
	execl("/bin/true", "true", NULL);
	return 1;
}

static void start_attack(const char *folder, const char *plan, const char *group)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/program", folder);
	if (fork() == 0)
		attack(path, strcmp(plan, "many") == 0, group);
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = on_signal}; /* read() is to end */
	const char *others = ",allow_other", *group = NULL;
	int mapper = -1;
	char options[128];
	int fd;

	if (strcmp(argv[0], "holder") == 0)
		return hold(argv[1]);
	holds = argc > 5;
	if (argc < 3)
		fail("arguments");
	bytes = map_code(argv[2], &file_bytes);
	if (holds) {
		late = strcmp(argv[4], "late") == 0;
		group = argv[6];
		if (group)
			mapper = start_mapper();
		become_user();
		if (group)
			map_users(mapper);
		else
			map_user();
		signal(SIGCHLD, SIG_IGN);
		if (!group)
			others = "";
	}
	fd = open(holds ? argv[5] : "/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fail("/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0%s", fd,
		 others);
	if (!bytes || mount("hostile", argv[1], "fuse", 0, options))
		fail("mount");
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	say("ready");
	if (holds)
		start_attack(argv[1], argv[4], group);
	serve(fd);
	umount2(argv[1], MNT_DETACH);
	return 0;
}

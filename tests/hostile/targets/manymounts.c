/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manymounts SECONDS FOLDER COUNT LIBRARY OFFSET: an ordinary user mounts a folder COUNT times in
 * namespaces of their own. Process after process then maps new files, each through another mount,
 * and calls the code at OFFSET (hex). Root starts the program and owns the folder.
 */
#include <grp.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/hostile/targets/hostile.h"

#define ORDINARY 65000 /* uid and gid */
#define NICEST	 19
#define OF_SET	 90
#define FILES	 100 /* of a process */
#define AT_ONCE	 16  /* processes: the worker asks about two files of each */

static char library[1 << 20];
static size_t library_size;

static void write_file(const char *path, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd))
		fail(path);
}

static void read_library(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = read(fd, library, sizeof(library));

	if (fd < 0 || size <= 0)
		fail(path);
	library_size = (size_t)size;
	close(fd);
}

static void become_ordinary(void)
{
	char map[32];
	int size = snprintf(map, sizeof(map), "0 %d 1\n", ORDINARY);

	if (setgroups(0, NULL) || setgid(ORDINARY) || setuid(ORDINARY) || nice(NICEST) == -1 ||
	    prctl(PR_SET_DUMPABLE, 1))
		fail("ordinary user");
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) {
		say("no namespaces for users");
		exit(77);
	}
	write_file("/proc/self/setgroups", "deny", 4);
	write_file("/proc/self/uid_map", map, (size_t)size);
	write_file("/proc/self/gid_map", map, (size_t)size);
}

static void mount_on(const char *source, const char *name, unsigned long flags)
{
	if (mkdir(name, 0755) || mount(source, name, NULL, MS_BIND | flags, NULL))
		fail(name);
}

/* Mounts the folder many times in `set`, and `set` with all that many times: that is quick. */
static void make_mounts(const char *folder, unsigned int count)
{
	char name[32];

	if (mount("files", folder, "tmpfs", 0, "mode=755") || chdir(folder) || mkdir("set", 0755))
		fail("tmpfs");
	for (unsigned int i = 0; i < OF_SET; i++) {
		snprintf(name, sizeof(name), "set/%u", i);
		mount_on(".", name, 0);
	}
	for (unsigned int i = 0; i < count / OF_SET; i++) {
		snprintf(name, sizeof(name), "copy-%u", i);
		mount_on("set", name, MS_REC);
	}
}

/* Each file is new, and each mount is another one than for the file before. */
static void map_files(unsigned int round, unsigned int count, size_t offset)
{
	char path[64];
	size_t size;

	for (unsigned int i = 0; i < FILES; i++) {
		unsigned int number = round * FILES + i, place = number % (count / OF_SET * OF_SET);
		char *code;

		snprintf(path, sizeof(path), "copy-%u/%u/file-%u", place / OF_SET, place % OF_SET,
			 number);
		write_file(path, library, library_size);
		code = map_code(path, &size);
		if (code)
			work_sink += ((body_function *)(code + offset))(20000);
		unlink(path);
	}
}

/* Long enough to be sampled, listed and asked about. */
static void linger(void)
{
	uint64_t end = end_after(1);

	while (before(end))
		burn_rounds(20000);
}

int main(int argc, char **argv)
{
	uint64_t end;
	unsigned int count = (unsigned int)seconds_argument(argc, argv, 3, 9000);
	unsigned int round = 0;
	int running = 0;

	if (argc < 6)
		return 2;
	read_library(argv[4]);
	become_ordinary();
	make_mounts(argv[2], count);
	say("mounted");
	end = end_after(seconds_argument(argc, argv, 1, 5));
	for (; before(end); round++) {
		pid_t child = fork();

		if (child == 0) {
			map_files(round, count, strtoul(argv[5], NULL, 16));
			linger();
			_exit(0);
		}
		if (++running > AT_ONCE && wait(NULL) > 0)
			running--;
	}
	while (wait(NULL) > 0)
		;
	printf("%u files\n", round * FILES);
	return 0;
}

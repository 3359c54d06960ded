/* SPDX-License-Identifier: Apache-2.0 */
/* load SECONDS: keeps the kernel busy in many places, so that deep kernel stacks are sampled. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void folders(void)
{
	static const char *const paths[] = {"/proc", "/proc/self/fd", "/sys/class", "/etc", "/tmp"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		DIR *folder = opendir(paths[i]);
		struct dirent *entry;
		struct stat status;

		while (folder && (entry = readdir(folder)) != NULL)
			fstatat(dirfd(folder), entry->d_name, &status, 0);
		if (folder)
			closedir(folder);
	}
}

static void pipes(void)
{
	char text[4096] = "";
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return;
	for (int i = 0; i < 200; i++)
		if (write(ends[0], text, sizeof(text)) < 0 || read(ends[1], text, sizeof(text)) < 0)
			break;
	close(ends[0]);
	close(ends[1]);
}

static void forks(void)
{
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

static void memory(void)
{
	for (int i = 0; i < 20; i++) {
		char *area = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (area == MAP_FAILED)
			return;
		memset(area, i, 1 << 20);
		munmap(area, 1 << 20);
	}
}

static void files(void)
{
	char text[8192] = "";
	static const char *const paths[] = {"/proc/stat", "/proc/self/maps", "/proc/self/smaps",
					    "/proc/meminfo"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		int fd = open(paths[i], O_RDONLY);

		while (fd >= 0 && read(fd, text, sizeof(text)) > 0)
			;
		if (fd >= 0)
			close(fd);
	}
}

int main(int argc, char **argv)
{
	static void (*const kinds[])(void) = {folders, pipes, forks, memory, files};
	time_t end = time(NULL) + (argc > 1 ? strtol(argv[1], NULL, 10) : 1);

	for (int i = 0; i < 2; i++)
		if (fork() == 0)
			break;
	for (size_t i = 0; time(NULL) < end; i++)
		kinds[i % (sizeof(kinds) / sizeof(*kinds))]();
	while (wait(NULL) > 0)
		;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * happenings KIND COUNT: makes so many events, each in a function of its own below one that calls
 * it. The kinds:
 *
 * - faults: first writes to pages;
 * - sleeps: nanosleep();
 * - pipes: a byte from one thread to another;
 * - moves: to another CPU;
 * - reads: pages that read() faults in while the kernel copies to them;
 * - file: COUNT is the path of a file, whose pages are read from the disk.
 */
#include "work.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u

static int there[2], back[2];

FUNCTION char *fresh_pages(unsigned int count)
{
	char *pages = mmap(NULL, (size_t)count * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		exit(1);
	madvise(pages, (size_t)count * PAGE, MADV_NOHUGEPAGE);
	return pages;
}

FUNCTION void touch_pages(volatile char *pages, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		pages[(size_t)i * PAGE] = 1;
	KEEP_FRAME();
}

FUNCTION void touch_file(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	off_t bytes = lseek(file, 0, SEEK_END);
	volatile char *pages = mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, file, 0);
	char sum = 0;

	if (pages == MAP_FAILED || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED))
		exit(1);
	for (off_t at = 0; at < bytes; at += PAGE)
		sum += pages[at];
	work_sink += (uint64_t)sum;
	KEEP_FRAME();
}

FUNCTION void read_pages(char *pages, unsigned int count)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (unsigned int i = 0; i < count; i++)
		if (read(zero, pages + (size_t)i * PAGE, 1) != 1)
			exit(1);
	KEEP_FRAME();
}

FUNCTION void sleep_often(unsigned int count)
{
	const struct timespec pause = {.tv_nsec = 100000};

	for (unsigned int i = 0; i < count; i++)
		nanosleep(&pause, NULL);
	KEEP_FRAME();
}

FUNCTION void *answer_pipe(void *count)
{
	char byte;

	for (unsigned int i = 0; i < *(unsigned int *)count; i++)
		if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
			exit(1);
	KEEP_FRAME();
	return NULL;
}

FUNCTION void ask_pipe(unsigned int count)
{
	char byte = 0;

	for (unsigned int i = 0; i < count; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			exit(1);
	KEEP_FRAME();
}

FUNCTION void move_about(unsigned int count)
{
	cpu_set_t all, one;
	unsigned int cpu = 0;

	sched_getaffinity(0, sizeof(all), &all);
	for (unsigned int i = 0; i < count; i++) {
		do
			cpu = (cpu + 1) % CPU_SETSIZE;
		while (!CPU_ISSET(cpu, &all));
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
	KEEP_FRAME();
}

FUNCTION void happen(const char *kind, unsigned int count)
{
	pthread_t thread;

	if (!strcmp(kind, "faults"))
		touch_pages(fresh_pages(count), count);
	if (!strcmp(kind, "reads"))
		read_pages(fresh_pages(count), count);
	if (!strcmp(kind, "sleeps"))
		sleep_often(count);
	if (!strcmp(kind, "moves"))
		move_about(count);
	if (!strcmp(kind, "pipes")) {
		if (pipe(there) || pipe(back) || pthread_create(&thread, NULL, answer_pipe, &count))
			exit(1);
		ask_pipe(count);
		pthread_join(thread, NULL);
	}
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	usleep(300000); /* until its mappings are known */
	if (!strcmp(argv[1], "file"))
		touch_file(argv[2]);
	else
		happen(argv[1], (unsigned int)atoi(argv[2]));
	KEEP_FRAME();
	return 0;
}

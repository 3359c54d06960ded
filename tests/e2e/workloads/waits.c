/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits KIND COUNT: threads that are off the CPU for a time that is known. Each thread prints a line
 * "NAME SECONDS": its time off the CPU, as the kernel's clock of its CPU time tells. The kinds:
 *
 * - sleep: nanosleep() of 20 ms;
 * - lock: two threads, "ping" and "pong", that wait for each other by a mutex and a condition;
 * - pipes: a child answers each byte;
 * - sync: fsync() of a file in the working directory;
 * - half: 20 ms of work, then a sleep of as long a time.
 */
#include "work.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 20000000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;
static long count;

static double now(clockid_t id)
{
	struct timespec time;

	clock_gettime(id, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double away(void)
{
	return now(CLOCK_MONOTONIC) - now(CLOCK_THREAD_CPUTIME_ID);
}

FUNCTION void nap(void)
{
	const struct timespec time = {.tv_nsec = NAP_NS};

	nanosleep(&time, NULL);
	KEEP_FRAME();
}

FUNCTION void work(double seconds)
{
	const double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 20000; i++)
			work_sink += (uint64_t)i;
	KEEP_FRAME();
}

FUNCTION void await_turn(int mine)
{
	pthread_mutex_lock(&mutex);
	while (turn != mine)
		pthread_cond_wait(&turned, &mutex);
	pthread_mutex_unlock(&mutex);
	KEEP_FRAME();
}

FUNCTION void give_turn(int other)
{
	pthread_mutex_lock(&mutex);
	turn = other;
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&mutex);
	KEEP_FRAME();
}

static void *play(void *argument)
{
	const int mine = argument != NULL;
	double begun;

	prctl(PR_SET_NAME, mine ? "pong" : "ping");
	begun = away();
	for (long i = 0; i < count; i++) {
		await_turn(mine);
		work(0.0002);
		give_turn(!mine);
	}
	printf("%s %.6f\n", mine ? "pong" : "ping", away() - begun);
	return NULL;
}

static void lock(void)
{
	static int second;
	pthread_t thread[2];

	pthread_create(&thread[0], NULL, play, NULL);
	pthread_create(&thread[1], NULL, play, &second);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
}

FUNCTION void pull(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		exit(1);
	KEEP_FRAME();
}

static void push(int fd)
{
	if (write(fd, "x", 1) != 1)
		exit(1);
}

/* Returns how often this process has waited. */
static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

static void pipes(void)
{
	int there[2], back[2];
	double begun;

	if (pipe(there) || pipe(back))
		exit(1);
	fflush(stdout);
	if (fork() == 0) {
		begun = away();
		for (long i = 0; i < count; i++) {
			pull(there[0]);
			push(back[1]);
		}
		printf("child %.6f %ld\n", away() - begun, switches());
		exit(0);
	}
	begun = away();
	for (long i = 0; i < count; i++) {
		push(there[1]);
		pull(back[0]);
	}
	printf("parent %.6f %ld\n", away() - begun, switches());
	wait(NULL);
}

FUNCTION void sync_file(int fd)
{
	if (write(fd, "xxxxxxxx", 8) != 8 || fsync(fd))
		exit(1);
	KEEP_FRAME();
}

static void sync_often(void)
{
	int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	double begun = away();

	if (fd < 0)
		exit(1);
	for (long i = 0; i < count; i++)
		sync_file(fd);
	printf("sync %.6f\n", away() - begun);
}

static void naps(double seconds)
{
	double begun = away();

	for (long i = 0; i < count; i++) {
		if (seconds > 0)
			work(seconds);
		nap();
	}
	printf("nap %.6f\n", away() - begun);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	count = atol(argv[2]);
	if (!strcmp(argv[1], "sleep"))
		naps(0);
	else if (!strcmp(argv[1], "half"))
		naps(NAP_NS / 1e9);
	else if (!strcmp(argv[1], "lock"))
		lock();
	else if (!strcmp(argv[1], "pipes"))
		pipes();
	else if (!strcmp(argv[1], "sync"))
		sync_often();
	else
		return 2;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads of known shares. A process that leaves says on standard output what the kernel has counted
 * for it, and then does nothing more:
 *   accounted burn MS        computes for so long
 *   accounted sleep N MS     sleeps N times for so long
 *   accounted pingpong N     two processes wake each other N times by pipes
 *   accounted lock N         two processes hand a lock to each other N times
 *   accounted forks N        N processes, one after another, that compute for 0.1 ms each
 *   accounted rate N HZ      N processes that do next to nothing, so many a second
 *   accounted crowd MS CPU NICE...  processes that compute side by side, until MS have passed. CPU: the
 *                            one that they have; -1: any. NICE: of each
 * A line has a name, then of schedstat the CPU time and the time waited in ns, then the number of
 * voluntary switches. The CPU time and the number of switches when the load began follow.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000ull

static uint64_t used(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static void compute(uint64_t ns)
{
	const uint64_t until = used() + ns;

	while (used() < until)
		;
}

static unsigned long long read_schedstat(unsigned long long *ret_waited)
{
	unsigned long long ns = 0;
	FILE *file = fopen("/proc/self/schedstat", "r");

	if (!file || fscanf(file, "%llu %llu", &ns, ret_waited) != 2)
		_exit(1);
	fclose(file);
	return ns;
}

static long read_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

static unsigned long long begun; /* ns */
static long begun_switches;

static void begin(void)
{
	unsigned long long waited;

	begun = read_schedstat(&waited);
	begun_switches = read_switches();
}

/* Written at once, so that lines of two processes do not mix. */
static void leave(const char *name)
{
	unsigned long long waited, ns = read_schedstat(&waited);
	char line[160];
	int size;

	size = snprintf(line, sizeof(line), "%s %llu %llu %ld %llu %ld\n", name, ns, waited,
			read_switches(), begun, begun_switches);
	_exit(write(STDOUT_FILENO, line, (size_t)size) != size);
}

static void sleep_often(int times, uint64_t ns)
{
	const struct timespec time = {.tv_nsec = (long)ns};

	for (int i = 0; i < times; i++)
		nanosleep(&time, NULL);
}

/* The one that comes first writes first. */
static void exchange(int from, int to, int times, int first)
{
	char byte = 0;

	for (int i = 0; i < times; i++) {
		if (first && write(to, &byte, 1) != 1)
			_exit(1);
		if (read(from, &byte, 1) != 1)
			_exit(1);
		if (!first && write(to, &byte, 1) != 1)
			_exit(1);
	}
}

static void pingpong(int times)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		_exit(1);
	if (fork() == 0) {
		prctl(PR_SET_NAME, "pong");
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* or it would wait for ever */
		begin();
		exchange(there[0], back[1], times, 0);
		leave("pong");
	}
	prctl(PR_SET_NAME, "ping");
	exchange(back[0], there[1], times, 1);
	wait(NULL);
	leave("ping");
}

static void forks(int count)
{
	for (int i = 0; i < count; i++) {
		if (fork() == 0) {
			prctl(PR_SET_NAME, "brief");
			compute(NS_PER_MS / 10);
			_exit(0);
		}
		wait(NULL);
	}
}

struct shared {
	pthread_mutex_t lock;
	pthread_cond_t given;
	int turn;
};

static void hand_over(struct shared *shared, int own, int times)
{
	for (int i = 0; i < times; i++) {
		pthread_mutex_lock(&shared->lock);
		while (shared->turn != own)
			pthread_cond_wait(&shared->given, &shared->lock);
		shared->turn = !own;
		pthread_cond_signal(&shared->given);
		pthread_mutex_unlock(&shared->lock);
	}
}

static struct shared *share(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t lock;
	pthread_condattr_t given;

	if (shared == MAP_FAILED)
		_exit(1);
	pthread_mutexattr_init(&lock);
	pthread_mutexattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->lock, &lock);
	pthread_condattr_init(&given);
	pthread_condattr_setpshared(&given, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&shared->given, &given);
	return shared;
}

static void lock(int times)
{
	struct shared *shared = share();

	if (fork() == 0) {
		prctl(PR_SET_NAME, "taker");
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* or it would wait for ever */
		begin();
		hand_over(shared, 1, times);
		leave("taker");
	}
	prctl(PR_SET_NAME, "giver");
	hand_over(shared, 0, times);
	wait(NULL);
	leave("giver");
}

static uint64_t clock_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

/* A process of vfork() costs so little that there can be so many. Says how many a second came. */
static void rate(int count, int hertz)
{
	const uint64_t start = clock_now();

	for (int i = 0; i < count; i++) {
		while (clock_now() < start + (uint64_t)i * 1000000000ull / (uint64_t)hertz)
			;
		if (vfork() == 0) {
			prctl(PR_SET_NAME, "brief");
			_exit(0);
		}
		wait(NULL);
	}
	printf("rate %.0f\n", count * 1e9 / (double)(clock_now() - start));
	fflush(stdout);
}

static void join_crowd(int number, uint64_t end, int cpu, int niceness)
{
	char name[16];
	cpu_set_t set;

	snprintf(name, sizeof(name), "crowd%d", number);
	prctl(PR_SET_NAME, name);
	begin();
	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	if (cpu >= 0 && sched_setaffinity(0, sizeof(set), &set))
		_exit(1);
	setpriority(PRIO_PROCESS, 0, niceness);
	while (clock_now() < end)
		;
	leave(name);
}

static void crowd(int ms, int cpu, int count, char **niceness)
{
	const uint64_t end = clock_now() + (uint64_t)ms * NS_PER_MS;

	for (int i = 0; i < count; i++)
		if (fork() == 0)
			join_crowd(i, end, cpu, atoi(niceness[i]));
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	const int first = argc > 2 ? atoi(argv[2]) : 0, second = argc > 3 ? atoi(argv[3]) : 0;
	const char *what = argc > 1 ? argv[1] : "";

	begin();
	if (!strcmp(what, "burn"))
		compute((uint64_t)first * NS_PER_MS);
	else if (!strcmp(what, "sleep"))
		sleep_often(first, (uint64_t)second * NS_PER_MS);
	else if (!strcmp(what, "pingpong"))
		pingpong(first);
	else if (!strcmp(what, "lock"))
		lock(first);
	else if (!strcmp(what, "rate"))
		rate(first, second);
	else if (!strcmp(what, "crowd"))
		crowd(first, second, argc - 4, argv + 4);
	else if (!strcmp(what, "forks"))
		forks(first);
	else
		return 2;
	leave("accounted");
	return 1;
}

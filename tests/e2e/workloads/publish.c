/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publish [SECONDS [FILE]]: burns CPU, as a child does without a context. At the first SIGUSR1 it publishes
 * an OpenTelemetry process context (OTEP 4719, version 2) whose service.version is 1. Each further
 * signal makes that number one more. With FILE, the payload is the first bytes of the file instead.
 * publish SECONDS named: the same, in memory that has its name from prctl(2), and no file.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "work.h"

#define PAGE 4096

struct header {
	char signature[8];
	uint32_t version, size;
	_Atomic uint64_t published;
	const unsigned char *payload;
};

/* Resource attributes service.name = checkout, service.version = '0', host.name = inner. */
static unsigned char payload[] = "\x0a\x4a"
				 "\x0a\x1a\x0a\x0cservice.name\x12\x0a\x0a\x08"
				 "checkout"
				 "\x0a\x16\x0a\x0fservice.version\x12\x03\x0a\x01"
				 "0"
				 "\x0a\x14\x0a\x09host.name\x12\x07\x0a\x05"
				 "inner";

#define VERSION_AT 53 /* of the digit */

static volatile sig_atomic_t signals;
static struct header *header;
static const unsigned char *published = payload;
static bool is_named;

static void on_signal(int number)
{
	(void)number;
	signals++;
}

static struct header *map_memfd(void)
{
	const int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
	void *memory;

	if (fd < 0 || ftruncate(fd, PAGE) != 0)
		_exit(1);
	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	return memory;
}

static struct header *map_named(void)
{
	void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, memory, PAGE, "OTEL_CTX") != 0)
		_exit(1);
	return memory;
}

static void publish(void)
{
	header = is_named ? map_named() : map_memfd();
	if (header == MAP_FAILED || madvise(header, PAGE, MADV_DONTFORK) != 0)
		_exit(1);
	header->version = 2;
	header->size = sizeof(payload) - 1;
	header->payload = published;
	atomic_store(&header->published, clock_ns(CLOCK_BOOTTIME));
	memcpy(header->signature, "OTEL_CTX", sizeof(header->signature));
}

/* A reader sees 0 while the payload changes. */
static void update(void)
{
	if (!header)
		publish();
	atomic_store(&header->published, 0);
	payload[VERSION_AT]++;
	atomic_store(&header->published, clock_ns(CLOCK_BOOTTIME));
}

static void map_file(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	published = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (published == MAP_FAILED)
		_exit(1);
}

FUNCTION void spin_inner(void)
{
	burn_rounds(20000);
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	struct work_time time = work_for(seconds_argument(argc, argv, 1, 2));
	int seen = 0;
	pid_t child;

	if (argc > 2 && strcmp(argv[2], "named") == 0)
		is_named = true;
	else if (argc > 2)
		map_file(argv[2]);
	signal(SIGUSR1, on_signal);
	child = fork();
	while (is_left(&time) && (child > 0 || getppid() != 1)) {
		spin_inner();
		if (seen == signals)
			continue;
		seen++;
		update();
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traced SECONDS [LIBRARY]: publishes an OpenTelemetry process context (OTEP 4719), and contexts of
 * its threads (OTEP 4947). The variable is its own or that of the library. Two threads are in a span
 * each. Two others have records that are no context, and addresses of nothing.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "traced_slot.h"
#include "work.h"

#define PIECE_SECONDS 0.01

static void (*attach)(const void *record) = traced_attach;
static double seconds;

static struct traced_record record_of(unsigned char number, unsigned char valid)
{
	struct traced_record record = {.valid = valid, .flags = 1};

	memset(record.trace, 0xa0 + number, sizeof(record.trace));
	memset(record.span, 0xb0 + number, sizeof(record.span));
	return record;
}

/* ---- threads ---- */

FUNCTION void traced_first(struct work_time time)
{
	while (is_left(&time))
		burn_rounds(20000);
	KEEP_FRAME();
}

FUNCTION void traced_second(struct work_time time)
{
	while (is_left(&time))
		burn_rounds(20000);
	KEEP_FRAME();
}

FUNCTION void traced_none(struct work_time time)
{
	while (is_left(&time))
		burn_rounds(20000);
	KEEP_FRAME();
}

static void *first_thread(void *argument)
{
	static struct traced_record record;

	(void)argument;
	record = record_of(1, 1);
	attach(&record);
	traced_first(work_for(seconds));
	return NULL;
}

static void *second_thread(void *argument)
{
	/* an address that no word has */
	static struct {
		char pad[2];
		struct traced_record record;
	} at;

	(void)argument;
	at.record = record_of(2, 1);
	attach(&at.record);
	traced_second(work_for(seconds));
	return NULL;
}

/* Detached, invalid, and without a trace or a span. */
static void *third_thread(void *argument)
{
	static struct traced_record records[4];
	struct work_time time = work_for(seconds);

	(void)argument;
	records[0] = record_of(3, 0);
	records[1] = record_of(3, 2);
	records[2] = records[3] = record_of(3, 1);
	memset(records[2].trace, 0, sizeof(records[2].trace));
	memset(records[3].span, 0, sizeof(records[3].span));
	for (unsigned int i = 0; is_left(&time); i++) {
		attach(i % 5 == 4 ? NULL : &records[i % 5]);
		traced_none(work_for(PIECE_SECONDS));
	}
	return NULL;
}

/* Addresses of nothing, of the kernel, and of a page's last bytes; a pointer to itself. */
static void *fourth_thread(void *argument)
{
	static const void *loop[4] = {loop, loop, loop, loop};
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const void *bad[] = {(void *)1,
			     (void *)0xffffffff81000000,
			     (void *)0x7fffffffffff,
			     (void *)0xdead000000000000,
			     page + 4096 - 8,
			     loop};
	struct work_time time = work_for(seconds);

	(void)argument;
	if (page == MAP_FAILED || munmap(page + 4096, 4096))
		return NULL;
	memset(page, 1, 4096);
	for (unsigned int i = 0; is_left(&time); i++) {
		attach(bad[i % (sizeof(bad) / sizeof(*bad))]);
		traced_none(work_for(PIECE_SECONDS));
	}
	return NULL;
}

/* ---- the context of the process ---- */

/* ProcessContext { resource { attributes { key: "service.name" value: "traced" } } } */
static const char payload[] = "\x0a\x1a\x0a\x18\x0a\x0cservice.name\x12\x08\x0a\x06traced";

static int publish(void)
{
	struct page {
		char signature[8];
		uint32_t version, size;
		uint64_t published;
		const char *payload;
		char bytes[sizeof(payload)];
	} * page;
	int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, sizeof(*page)))
		return 1;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		return 1;
	*page = (struct page){"OTEL_CTX", 2, sizeof(payload) - 1, 1, page->bytes, ""};
	memcpy(page->bytes, payload, sizeof(payload));
	return 0;
}

static int use_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	if (!library)
		return 1;
	*(void **)&attach = dlsym(library, "traced_attach");
	return !attach;
}

int main(int argc, char **argv)
{
	static void *(*const body[4])(void *) = {first_thread, second_thread, third_thread,
						 fourth_thread};
	pthread_t thread[4];

	seconds = seconds_argument(argc, argv, 1, 3);
	if (argc > 2 && use_library(argv[2]))
		return 1;
	if (publish())
		return 1;
	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, body[i], NULL))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

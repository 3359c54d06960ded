/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of a request for the worker, from sending it to the answer; `make figures` shows it. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/time.h"
#include "tests/privsep/broker.h"
#include "tests/privsep/privsep.h"

#define TIMES	  300
#define BOUND_NS  (20 * NS_PER_MS) /* of the median: it answers at once */
#define FILE_SIZE 4096

struct cost {
	struct child child;
	struct channel auditor; /* fd -1: none */
	struct message_object objects[TIMES];
};

static int compare(const void *a, const void *b)
{
	const uint64_t *first = a, *second = b;

	return *first < *second ? -1 : *first > *second;
}

/* Maps files that nobody has asked for yet, as the broker opens a file only once a minute. */
static void map_files(struct cost *cost)
{
	follow(getppid(), 0); /* for list() */
	for (int i = 0; i < TIMES; i++) {
		char path[] = "/tmp/keyhole-cost-XXXXXX";
		int fd = mkstemp(path), readable = open(path, O_RDONLY | O_CLOEXEC);
		uintptr_t at;

		assert_true(fd >= 0 && readable >= 0);
		unlink(path);
		assert_int_equal(ftruncate(fd, FILE_SIZE), 0);
		at = (uintptr_t)mmap(NULL, FILE_SIZE, PROT_READ, MAP_PRIVATE, readable, 0);
		assert_true(at != (uintptr_t)MAP_FAILED);
		cost->objects[i] = (struct message_object){.start = at,
							   .end = at + FILE_SIZE,
							   .pid = (uint32_t)getpid(),
							   .thread = (uint32_t)getpid()};
		close(fd);
		close(readable);
	}
}

static void list(struct cost *cost, int i, int *ret_fd)
{
	(void)i;
	assert_int_equal(ask_maps(&cost->child, (uint32_t)getppid(), ret_fd), 0);
}

static void identify(struct cost *cost, int i, int *ret_fd)
{
	struct message message;

	cost->objects[i].flags = 0;
	assert_int_equal(ask_object(&cost->child, &cost->objects[i], &message), 0);
	*ret_fd = message.fd;
}

static void open_object(struct cost *cost, int i, int *ret_fd)
{
	struct message message;

	cost->objects[i].flags = OBJECT_WANT_FD;
	assert_int_equal(ask_object(&cost->child, &cost->objects[i], &message), 0);
	*ret_fd = message.fd;
	assert_true(message.fd >= 0);
}

static void measure(struct cost *cost, const char *what,
		    void (*ask)(struct cost *, int, int *ret_fd))
{
	uint64_t took[TIMES];
	struct message message;

	for (int i = 0; i < TIMES; i++) {
		uint64_t begun = time_now();
		int fd;

		ask(cost, i, &fd);
		took[i] = time_now() - begun;
		close(fd);
		if (cost->auditor.fd >= 0)
			assert_int_equal(channel_wait(&cost->auditor, 1000, &message), 1);
	}
	qsort(took, TIMES, sizeof(*took), compare);
	print_message("figure: %s%s: median %.1f us, p90 %.1f us of %d\n", what,
		      cost->auditor.fd >= 0 ? ", audited" : "", (double)took[TIMES / 2] / 1000,
		      (double)took[TIMES * 9 / 10] / 1000, TIMES);
	assert_true(took[TIMES / 2] < BOUND_NS);
}

static void measure_all(struct cost *cost, int map)
{
	map_files(cost);
	measure(cost, "brokered listing", list);
	measure(cost, "brokered identity", identify);
	measure(cost, "brokered open", open_object);
	for (int i = 0; i < TIMES; i++)
		munmap((void *)(uintptr_t)cost->objects[i].start, FILE_SIZE);
	channel_release(&cost->auditor);
	child_stop(&cost->child);
	close(map);
}

static void test_broker__answers_at_once(void **state)
{
	static struct cost cost;
	int map = segment_map();

	(void)state;
	cost.auditor.fd = -1;
	start_broker(&cost.child, map);
	measure_all(&cost, map);
}

static void test_broker__answers_at_once_when_audited(void **state)
{
	static struct cost cost;
	int map = segment_map();

	(void)state;
	start_audited_broker(&cost.child, map, &cost.auditor);
	measure_all(&cost, map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_broker__answers_at_once),
		cmocka_unit_test(test_broker__answers_at_once_when_audited),
	};

	privsep_need_root();
	return cmocka_run_group_tests(tests, privsep_link_programs, NULL);
}

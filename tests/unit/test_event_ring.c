/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker/sample/event_ring.h"

#define PAGE  4096u
#define BYTES 16384u

struct fixture {
	uint64_t consumer;
	unsigned char *producer; /* page, data, data again */
	struct event_ring ring;
};

static struct fixture fixture;

/* Maps the data twice in a row, as the kernel does. */
static int setup(void **state)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);
	unsigned char *at =
		mmap(NULL, PAGE + 2 * BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*state = &fixture;
	fixture = (struct fixture){.producer = at};
	if (fd < 0 || ftruncate(fd, PAGE + BYTES) < 0)
		return -1;
	mmap(at, PAGE + BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	mmap(at + PAGE + BYTES, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, PAGE);
	close(fd);
	event_ring_init(&fixture.ring, &fixture.consumer, fixture.producer, PAGE, BYTES);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	munmap(fixture.producer, PAGE + 2 * BYTES);
	return 0;
}

static uint64_t *end(void)
{
	return (uint64_t *)fixture.producer;
}

static void put(uint32_t head, uint32_t kind)
{
	unsigned char *at = fixture.producer + PAGE + *end() % BYTES;
	struct event event = {.kind = kind, .pid = 5};

	memcpy(at, &head, sizeof(head));
	memcpy(at + 8, &event, sizeof(event));
	*end() += 8 + ((head & 0xffff) + 7) / 8 * 8;
}

static void test_event_ring__events_come_in_order(void **state)
{
	struct event event;

	(void)state;
	for (uint32_t i = 1; i < 500; i++) {
		put(sizeof(event), i);
		assert_true(event_ring_next(&fixture.ring, &event));
		assert_int_equal(event.kind, i);
		assert_int_equal(fixture.consumer, *end());
		assert_false(event_ring_next(&fixture.ring, &event));
	}
	assert_int_equal(fixture.ring.discarded, 0);
}

static void test_event_ring__short_events_have_no_owner(void **state)
{
	struct event event;

	(void)state;
	memset(&event, 0xff, sizeof(event));
	put(EVENT_SHORT_BYTES, EVENT_EXIT);
	memset(fixture.producer + PAGE + 8 + EVENT_SHORT_BYTES, 0xff, sizeof(event));
	assert_true(event_ring_next(&fixture.ring, &event));
	assert_int_equal(event.kind, EVENT_EXIT);
	assert_int_equal(event.pid, 5);
	assert_int_equal(event.cgroup, 0);
	assert_int_equal(event.outer[CGROUP_OUTER - 1], 0);
	assert_int_equal(fixture.ring.discarded, 0);
}

static void test_event_ring__names_come_with_their_event(void **state)
{
	struct event_name name = {.event = {.kind = EVENT_NAME, .generation = 7}};
	const uint32_t head = sizeof(name);
	struct event event;

	(void)state;
	memset(name.name, 'x', sizeof(name.name)); /* not ended */
	memcpy(fixture.producer + PAGE, &head, sizeof(head));
	memcpy(fixture.producer + PAGE + 8, &name, sizeof(name));
	*end() += 8 + sizeof(name);
	put(sizeof(event), EVENT_SEEN);
	assert_true(event_ring_next(&fixture.ring, &event));
	assert_int_equal(event.kind, EVENT_NAME);
	assert_int_equal(event.generation, 7);
	assert_int_equal(strlen(fixture.ring.name), sizeof(name.name));
	assert_true(event_ring_next(&fixture.ring, &event));
	assert_int_equal(event.kind, EVENT_SEEN);
	assert_string_equal(fixture.ring.name, "");
	assert_int_equal(fixture.ring.discarded, 0);
}

static void test_event_ring__paths_come_with_their_event(void **state)
{
	struct event_cgroup cgroup = {
		.event = {.kind = EVENT_CGROUP, .cgroup = 7}, .levels = 1, .name = {"a"}};
	const uint32_t head = sizeof(cgroup);
	struct event event;

	(void)state;
	memcpy(fixture.producer + PAGE, &head, sizeof(head));
	memcpy(fixture.producer + PAGE + 8, &cgroup, sizeof(cgroup));
	*end() += 8 + sizeof(cgroup);
	put(sizeof(event), EVENT_SEEN);
	assert_true(event_ring_next(&fixture.ring, &event));
	assert_int_equal(event.kind, EVENT_CGROUP);
	assert_int_equal(event.cgroup, 7);
	assert_string_equal(fixture.ring.path, "/a");
	assert_true(event_ring_next(&fixture.ring, &event));
	assert_int_equal(event.kind, EVENT_SEEN);
	assert_string_equal(fixture.ring.path, "");
	assert_int_equal(fixture.ring.discarded, 0);
}

static void put_code(uint32_t kind, uint64_t code, uint32_t size)
{
	struct event_code event = {.event = {.kind = kind, .pid = 5}, .code = code};
	const uint32_t head = size;
	unsigned char *at = fixture.producer + PAGE + *end() % BYTES;

	memcpy(at, &head, sizeof(head));
	memset(event.data, 'x', sizeof(event.data));
	memcpy(at + 8, &event, size);
	*end() += 8 + size;
}

/* Code comes with an event that has its size and its kind. */
static void test_event_ring__code_comes_with_its_event(void **state)
{
	struct event event;

	(void)state;
	put_code(EVENT_CODE, 0x1000, sizeof(struct event_code));
	assert_true(event_ring_next(&fixture.ring, &event));
	assert_true(fixture.ring.has_code);
	assert_int_equal(fixture.ring.code.data[CODE_BYTES - 1], 'x');
	assert_false(event_ring_next(&fixture.ring, &event));
	/* a short event, and nothing of the long one before */
	put_code(EVENT_CODE, 0x1000, EVENT_CODE_SHORT_BYTES);
	assert_true(event_ring_next(&fixture.ring, &event));
	assert_int_equal(event.kind, EVENT_CODE);
	assert_true(fixture.ring.has_code);
	assert_int_equal(fixture.ring.code.code, 0x1000);
	assert_int_equal(fixture.ring.code.data[CODE_SHORT_END - 1], 'x');
	assert_int_equal(fixture.ring.code.data[CODE_BYTES - 1], 0);
	assert_false(event_ring_next(&fixture.ring, &event));
	put(sizeof(event), EVENT_CODE);
	assert_true(event_ring_next(&fixture.ring, &event));
	assert_false(fixture.ring.has_code);
	assert_false(event_ring_next(&fixture.ring, &event));
	put_code(EVENT_SEEN, 0x1000, EVENT_CODE_SHORT_BYTES);
	assert_true(event_ring_next(&fixture.ring, &event));
	assert_false(fixture.ring.has_code);
	assert_int_equal(fixture.ring.discarded, 0);
}

static void put_wait(uint32_t kind, uint32_t tid)
{
	struct event_wait wait = {.event = {.kind = kind, .pid = 5}, .tid = tid, .waker = WAKERS};
	const uint32_t head = sizeof(wait);
	unsigned char *at = fixture.producer + PAGE + *end() % BYTES;

	memset(wait.waker_name, 'x', sizeof(wait.waker_name)); /* not ended: waits_end() ends it */
	memcpy(at, &head, sizeof(head));
	memcpy(at + 8, &wait, sizeof(wait));
	*end() += 8 + sizeof(wait);
}

/* A wait comes with an event that has its size and its kind, and with no later one. */
static void test_event_ring__waits_come_with_their_event(void **state)
{
	struct event event;

	(void)state;
	put_wait(EVENT_WAIT, 6);
	assert_true(event_ring_next(&fixture.ring, &event));
	assert_int_equal(event.kind, EVENT_WAIT);
	assert_true(fixture.ring.has_wait);
	assert_int_equal(fixture.ring.wait.tid, 6);
	assert_int_equal(fixture.ring.wait.waker, WAKERS);
	assert_false(event_ring_next(&fixture.ring, &event));
	put(sizeof(event), EVENT_WAIT);
	assert_true(event_ring_next(&fixture.ring, &event));
	assert_int_equal(event.kind, EVENT_WAIT);
	assert_false(fixture.ring.has_wait);
	assert_false(event_ring_next(&fixture.ring, &event));
	put_wait(EVENT_EXIT, 7);
	assert_true(event_ring_next(&fixture.ring, &event));
	assert_int_equal(event.kind, EVENT_EXIT);
	assert_false(fixture.ring.has_wait);
	assert_false(event_ring_next(&fixture.ring, &event));
	put_code(EVENT_WAIT, 0x1000, EVENT_CODE_SHORT_BYTES);
	assert_true(event_ring_next(&fixture.ring, &event));
	assert_false(fixture.ring.has_wait);
	assert_false(fixture.ring.has_code);
	assert_int_equal(fixture.ring.discarded, 0);
}

static void test_event_ring__busy_record_is_waited_for(void **state)
{
	struct event event;

	(void)state;
	put(sizeof(event) | 1u << 31, 1);
	put(sizeof(event), 2);
	assert_false(event_ring_next(&fixture.ring, &event));
	assert_int_equal(fixture.consumer, 0);
}

static void test_event_ring__discarded_and_odd_ones_are_passed_over(void **state)
{
	struct event event;

	(void)state;
	put(sizeof(event) | 1u << 30, 1);
	put(24, 2);
	put(sizeof(event), 3);
	assert_true(event_ring_next(&fixture.ring, &event));
	assert_int_equal(event.kind, 3);
	assert_int_equal(fixture.ring.discarded, 1);
}

static void test_event_ring__senseless_length_skips_to_the_end(void **state)
{
	struct event event;
	uint32_t head = 0x3fffffff;

	(void)state;
	put(sizeof(event), 1);
	memcpy(fixture.producer + PAGE, &head, sizeof(head));
	put(sizeof(event), 2);
	assert_false(event_ring_next(&fixture.ring, &event));
	assert_int_equal(fixture.consumer, *end());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_event_ring__events_come_in_order, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_event_ring__short_events_have_no_owner, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_event_ring__names_come_with_their_event, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_event_ring__paths_come_with_their_event, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_event_ring__code_comes_with_its_event, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_event_ring__waits_come_with_their_event, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_event_ring__busy_record_is_waited_for, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_event_ring__discarded_and_odd_ones_are_passed_over, setup, teardown),
		cmocka_unit_test_setup_teardown(test_event_ring__senseless_length_skips_to_the_end,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

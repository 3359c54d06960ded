/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bpf/abi.h"
#include "tests/unit/build_sideband.h"
#include "worker/process/tracker.h"
#include "worker/sample/event_ring.h"
#include "worker/stream.h"

#define PAGE  4096u
#define BYTES 4096u
#define BUSY  (1u << 31)

struct fixture {
	struct stream *stream;
	struct event_ring ring;
	struct build_sideband build;
	uint64_t consumer;
	unsigned char *producer; /* page, data */
	char told[64];		 /* a letter for each call of the tracker below */
	char texts[64];		 /* of the records, in the order of the calls */
};

static struct fixture *fixture;

static void tell(char letter)
{
	fixture->told[strlen(fixture->told)] = letter;
}

static void tell_text(const char *text)
{
	const size_t length = strlen(fixture->texts);

	snprintf(fixture->texts + length, sizeof(fixture->texts) - length, "%s", text);
}

/* These functions stand in for the real tracker. */
void tracker_event(struct tracker *tracker, const struct event *event)
{
	(void)tracker;
	tell((char)('0' + event->kind));
}

void tracker_code(struct tracker *tracker, const struct event_code *event)
{
	tracker_event(tracker, &event->event);
}

void tracker_mmap(struct tracker *tracker, uint64_t time, uint32_t pid,
		  const struct tracker_mapping *told)
{
	(void)tracker, (void)time, (void)pid;
	tell('m');
	tell_text(told->path);
}

void tracker_comm(struct tracker *tracker, uint64_t time, uint32_t pid, uint32_t tid,
		  const char *comm, bool exec)
{
	(void)tracker, (void)time, (void)pid, (void)tid, (void)exec;
	tell('c');
	tell_text(comm);
}

void tracker_lost(struct tracker *tracker, uint64_t records)
{
	(void)tracker, (void)records;
	tell('l');
}

static int setup(void **state)
{
	*state = fixture = calloc(1, sizeof(*fixture));
	if (!fixture)
		return -1;
	fixture->stream = stream_new();
	fixture->producer = calloc(1, PAGE + BYTES);
	if (!fixture->stream || !fixture->producer)
		return -1;
	build_sideband_init(&fixture->build);
	event_ring_init(&fixture->ring, &fixture->consumer, fixture->producer, PAGE, BYTES);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	stream_free(fixture->stream);
	build_sideband_release(&fixture->build);
	free(fixture->producer);
	free(fixture);
	return 0;
}

/* Returns the head of the event, in which a bit means busy. */
static uint32_t *put_event(uint64_t time, uint32_t kind, uint32_t flags)
{
	const struct event event = {.time = time, .kind = kind, .pid = 5, .generation = 100};
	uint64_t *end = (uint64_t *)fixture->producer;
	unsigned char *at = fixture->producer + PAGE + *end % BYTES;

	*(uint32_t *)at = sizeof(event) | flags;
	memcpy(at + 8, &event, sizeof(event));
	*end += 8 + sizeof(event);
	return (uint32_t *)at;
}

static bool turn(uint64_t until)
{
	stream_read(fixture->stream, &fixture->ring, NULL, &fixture->build.sideband, 1);
	return stream_apply(fixture->stream, NULL, until);
}

static void test_stream__is_in_the_order_of_time(void **state)
{
	(void)state;
	build_comm(&fixture->build, 11, 5, 5, "x", 1);
	build_mmap(&fixture->build, 13, 5, 0x1000, 0x1000, 0, 1, PROT_EXEC, "/x");
	put_event(10, EVENT_FORK, 0);
	put_event(14, EVENT_EXEC, 0);
	assert_false(turn(14));
	assert_string_equal(fixture->told, "2cm3");
}

static void test_stream__what_is_later_is_kept(void **state)
{
	(void)state;
	build_comm(&fixture->build, 11, 5, 5, "x", 1);
	build_mmap(&fixture->build, 13, 5, 0x1000, 0x1000, 0, 1, PROT_EXEC, "/x");
	assert_true(turn(12));
	assert_string_equal(fixture->told, "c");
	assert_false(turn(13));
	assert_string_equal(fixture->told, "cm");
}

/* The reader's own text is valid until the next record alone. */
static void test_stream__texts_last_until_they_are_applied(void **state)
{
	(void)state;
	build_comm(&fixture->build, 12, 5, 5, "second", 1);
	build_mmap(&fixture->build, 13, 5, 0x1000, 0x1000, 0, 1, PROT_EXEC, "/third");
	build_comm(&fixture->build, 11, 5, 5, "first", 1);
	assert_true(turn(11));
	assert_string_equal(fixture->texts, "first");
	assert_false(turn(13));
	assert_string_equal(fixture->texts, "firstsecond/third");
}

/* The side-band comes before an event at the same moment. A denial comes before the side-band. */
static void test_stream__order_at_one_moment(void **state)
{
	(void)state;
	build_comm(&fixture->build, 11, 5, 5, "x", 1);
	put_event(11, EVENT_EXEC, 0);
	put_event(11, EVENT_DENIED, 0);
	assert_false(turn(11));
	assert_string_equal(fixture->told, "5c3");
}

/* Behind an event that another CPU has not finished, records may be of a denied program. */
static void test_stream__an_unfinished_event_holds_up_all(void **state)
{
	uint32_t *head;

	(void)state;
	put_event(9, EVENT_FORK, 0);
	head = put_event(10, EVENT_EXIT, BUSY);
	put_event(11, EVENT_DENIED, 0);
	build_comm(&fixture->build, 12, 5, 5, "x", 1);
	assert_true(turn(20));
	assert_true(stream_behind(fixture->stream));
	assert_string_equal(fixture->told, "");
	*head &= ~BUSY;
	assert_false(turn(20));
	assert_false(stream_behind(fixture->stream));
	assert_string_equal(fixture->told, "245c");
}

static void test_stream__what_was_another_readers_is_skipped(void **state)
{
	(void)state;
	put_event(10, EVENT_FORK, BUSY);
	build_comm(&fixture->build, 11, 5, 5, "x", 1);
	stream_skip(&fixture->consumer, fixture->producer, &fixture->build.sideband, 1);
	put_event(12, EVENT_EXEC, 0);
	assert_false(turn(20));
	assert_string_equal(fixture->told, "3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_stream__is_in_the_order_of_time, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_stream__what_is_later_is_kept, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_stream__texts_last_until_they_are_applied,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_stream__order_at_one_moment, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stream__an_unfinished_event_holds_up_all,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_stream__what_was_another_readers_is_skipped,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "worker/sample/ring.h"

struct fixture {
	struct ring ring;
	u64 tail;
	unsigned char *bytes;
	uint64_t head;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->bytes = aligned_alloc(4096, RING_BYTES_MIN);
	memset(f->bytes, 0, RING_BYTES_MIN);
	ring_init(&f->ring, f->bytes, RING_BYTES_MIN, &f->tail);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	free(f->bytes);
	free(f);
	return 0;
}

/* Writes a record as BPF does. */
static struct record *put(struct fixture *f, unsigned int frames)
{
	uint64_t left = RING_BYTES_MIN - (f->head & (RING_BYTES_MIN - 1));
	uint64_t bytes = sizeof(struct record) + 8 * frames;
	struct record *record;

	if (left < RECORD_BYTES_MAX)
		f->head += left;
	record = (struct record *)(f->bytes + (f->head & (RING_BYTES_MIN - 1)));
	*record = (struct record){.pid = 7, .tid = 8, .generation = 9, .user_frames = frames};
	for (unsigned int i = 0; i < frames; i++)
		((u64 *)(record + 1))[i] = 0x1000 + i;
	record->commit = record_commit(f->head, bytes);
	f->head += bytes;
	return record;
}

static void test_ring__record_comes_with_its_frames(void **state)
{
	struct fixture *f = *state;
	struct record head;
	const u64 *frames;

	assert_false(ring_next(&f->ring, &head, &frames));
	put(f, 3);
	assert_true(ring_next(&f->ring, &head, &frames));
	assert_int_equal(head.pid, 7);
	assert_int_equal(head.user_frames, 3);
	assert_int_equal(frames[2], 0x1002);
	assert_false(ring_next(&f->ring, &head, &frames));
	assert_int_equal(f->tail, 0);
	ring_publish(&f->ring);
	assert_int_equal(f->tail, f->head);
}

static void test_ring__laps_are_told_apart(void **state)
{
	struct fixture *f = *state;
	struct record head;
	const u64 *frames;
	unsigned int read = 0;

	for (int i = 0; i < 3000; i++) {
		put(f, (unsigned int)i % 200);
		assert_true(ring_next(&f->ring, &head, &frames));
		assert_int_equal(head.user_frames, i % 200);
		assert_false(ring_next(&f->ring, &head, &frames));
		read++;
	}
	assert_int_equal(read, 3000);
	assert_true(f->head > 4 * RING_BYTES_MIN);
	assert_int_equal(f->ring.discarded, 0);
}

static void test_ring__malformed_heads_are_passed_over(void **state)
{
	struct fixture *f = *state;
	struct record head;
	const u64 *frames;

	put(f, 1)->user_frames = 2;
	put(f, 1)->reason = REASON_COUNT;
	put(f, 1)->reason = REASON_lost_ring_full;
	put(f, 1)->cpu = ABI_MAX_CPUS;
	put(f, 1)->pid = PROCESS_PID_MAX + 1;
	put(f, 1)->kernel_frames = 65535;
	put(f, 1)->context = CONTEXT_TAKEN;
	put(f, 1)->context = CONTEXT_RESULTS;
	put(f, 2);
	assert_true(ring_next(&f->ring, &head, &frames));
	assert_int_equal(head.user_frames, 2);
	assert_int_equal(f->ring.discarded, 8);
}

static void test_ring__context_is_behind_the_frames(void **state)
{
	struct fixture *f = *state;
	struct record head, *record = put(f, 2 + CONTEXT_WORDS);
	const u64 *frames;

	record->user_frames = 2;
	record->context = CONTEXT_TAKEN;
	assert_true(ring_next(&f->ring, &head, &frames));
	assert_int_equal(head.user_frames, 2);
	assert_int_equal(record_words(&head), 5);
	assert_int_equal(frames[4], 0x1004);
	assert_int_equal(f->ring.discarded, 0);
}

static void test_ring__damaged_commit_word_is_no_record(void **state)
{
	static const u64 bytes[] = {0, 8, 48, 57, 60, RECORD_BYTES_MAX + 8, 65528};
	struct fixture *f = *state;
	struct record head, *record = put(f, 1);
	const u64 *frames;

	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		record->commit = record_commit(0, bytes[i]);
		assert_false(ring_next(&f->ring, &head, &frames));
	}
	record->commit = record_commit(8, 64);
	assert_false(ring_next(&f->ring, &head, &frames));
	assert_int_equal(f->ring.position, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ring__record_comes_with_its_frames, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_ring__laps_are_told_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ring__malformed_heads_are_passed_over, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_ring__context_is_behind_the_frames, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_ring__damaged_commit_word_is_no_record, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fake_target.h"
#include "worker/process/segments.h"

static struct fake_target fake;

static struct segments *make(uint32_t max)
{
	struct segments *segments = segments_new(&fake.target, max);

	assert_int_equal(segments_attach(segments, fake_segment()), 0);
	return segments;
}

static int setup(void **state)
{
	(void)state;
	fake_target_init(&fake);
	return 0;
}

static void test_segments__words_are_aligned_and_never_zero(void **state)
{
	struct segments *segments = make(4);
	uint32_t a, b;

	(void)state;
	assert_int_equal(segments_alloc(segments, 1, &a), 0);
	assert_int_equal(segments_alloc(segments, 17, &b), 0);
	assert_true(a >= SEGMENTS_ALIGN && a % SEGMENTS_ALIGN == 0);
	assert_int_equal(b - a, 16);
	memset(segments_at(segments, b), 0xff, 32 * sizeof(u32));
	assert_int_equal(segments_at(segments, a)[0], 0);
	assert_int_equal(segments_alloc(segments, 0, &a), -E2BIG);
	assert_int_equal(segments_alloc(segments, SEGMENT_WORDS, &a), -E2BIG);
	segments_free(segments);
}

static void test_segments__released_words_wait_for_the_grace(void **state)
{
	struct segments *segments = make(1);
	uint32_t words = SEGMENT_WORDS - SEGMENTS_ALIGN, word, again;

	(void)state;
	assert_int_equal(segments_alloc(segments, words, &word), 0);
	segments_release(segments, word, words, 1000);
	assert_int_equal(segments_alloc(segments, 1, &again), -EAGAIN);
	segments_turn(segments, 1000 + SEGMENTS_GRACE - 1);
	assert_int_equal(segments_alloc(segments, 1, &again), -EAGAIN);
	segments_turn(segments, 1000 + SEGMENTS_GRACE);
	assert_int_equal(segments_alloc(segments, words, &again), 0);
	assert_int_equal(again, word);
	segments_free(segments);
}

static void test_segments__one_more_is_asked_for_in_time(void **state)
{
	struct segments *segments = make(3);
	uint64_t generation = segments_generation(segments);
	uint32_t word;

	(void)state;
	segments_turn(segments, 1);
	assert_int_equal(fake.count, 0);
	assert_int_equal(segments_alloc(segments, SEGMENT_WORDS / 2, &word), 0);
	segments_turn(segments, 2);
	segments_turn(segments, 3);
	assert_int_equal(fake.count, 1);
	assert_int_equal(fake.requests[0].index, 1);
	assert_int_equal(segments_alloc(segments, SEGMENT_WORDS / 2, &word), -EAGAIN);
	fake_target_answer(&fake);
	assert_true(segments_generation(segments) != generation);
	assert_int_equal(segments_alloc(segments, SEGMENT_WORDS / 2, &word), 0);
	assert_int_equal(word >> SEGMENT_WORD_BITS, 1);
	segments_at(segments, word)[0] = 1;
	segments_free(segments);
}

static void test_segments__ceiling_is_kept(void **state)
{
	struct segments *segments = make(1);
	uint32_t word;

	(void)state;
	assert_int_equal(segments_alloc(segments, SEGMENT_WORDS / 2, &word), 0);
	assert_int_equal(segments_alloc(segments, SEGMENT_WORDS / 2, &word), -ENOSPC);
	assert_int_equal(fake.count, 0);
	segments_free(segments);
}

static void test_segments__refusal_is_final(void **state)
{
	struct segments *segments = make(2);
	uint32_t word;

	(void)state;
	fake.segment_error = -EPERM;
	assert_int_equal(segments_alloc(segments, SEGMENT_WORDS / 2, &word), 0);
	assert_int_equal(segments_alloc(segments, SEGMENT_WORDS / 2, &word), -EAGAIN);
	fake_target_answer(&fake);
	assert_int_equal(segments_alloc(segments, SEGMENT_WORDS / 2, &word), -ENOSPC);
	segments_free(segments);
}

static void test_segments__random_use_never_overlaps(void **state)
{
	struct segments *segments = make(1);
	struct {
		uint32_t word, words;
	} areas[100] = {0};
	unsigned int seed = 7;
	uint32_t all;

	(void)state;
	for (unsigned int step = 0; step < 20000; step++) {
		unsigned int i = (unsigned int)rand_r(&seed) % 100;

		if (areas[i].words == 0) {
			uint32_t words = 1 + (uint32_t)rand_r(&seed) % 2000;

			assert_int_equal(segments_alloc(segments, words, &areas[i].word), 0);
			areas[i].words = words;
			for (uint32_t k = 0; k < words; k++)
				segments_at(segments, areas[i].word)[k] = i;
		} else {
			for (uint32_t k = 0; k < areas[i].words; k++)
				assert_int_equal(segments_at(segments, areas[i].word)[k], i);
			segments_discard(segments, areas[i].word, areas[i].words);
			areas[i].words = 0;
		}
	}
	for (unsigned int i = 0; i < 100; i++)
		if (areas[i].words)
			segments_discard(segments, areas[i].word, areas[i].words);
	/* all of it in one piece again */
	assert_int_equal(segments_alloc(segments, SEGMENT_WORDS - SEGMENTS_ALIGN, &all), 0);
	segments_free(segments);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_segments__words_are_aligned_and_never_zero, setup),
		cmocka_unit_test_setup(test_segments__released_words_wait_for_the_grace, setup),
		cmocka_unit_test_setup(test_segments__one_more_is_asked_for_in_time, setup),
		cmocka_unit_test_setup(test_segments__ceiling_is_kept, setup),
		cmocka_unit_test_setup(test_segments__refusal_is_final, setup),
		cmocka_unit_test_setup(test_segments__random_use_never_overlaps, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "worker/process/mapping.h"

/* The tests only compare this object's address. */
#define FILE_A ((struct file *)16)
#define FILE_B ((struct file *)32)
#define OBJECT ((struct object *)48)

static int setup(void **state)
{
	*state = mappings_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	mappings_free(*state);
	return 0;
}

static int add(struct mappings *mappings, struct file *file, uint64_t start, uint64_t end,
	       uint64_t offset, uint64_t time)
{
	const struct mapping mapping = {.start = start,
					.end = end,
					.offset = offset,
					.from = time,
					.file = file,
					.object = OBJECT};

	return mappings_add(mappings, &mapping);
}

static const struct file *at(const struct mappings *mappings, uint64_t address, uint64_t time)
{
	const struct mapping *found = mappings_find(mappings, address, time);

	return found ? found->file : NULL;
}

static void test_mapping__adding_keeps_the_version(void **state)
{
	struct mappings *mappings = *state;
	uint32_t version = mappings->version;

	assert_int_equal(add(mappings, FILE_B, 0x5000, 0x6000, 0, 10), 1);
	assert_int_equal(add(mappings, FILE_A, 0x1000, 0x3000, 0, 11), 1);
	assert_int_equal(add(mappings, FILE_A, 0x1000, 0x3000, 0, 12), 0);
	assert_int_equal(mappings->version, version);
	assert_true(mappings->dirty);
	assert_int_equal(mappings->open[0].start, 0x1000);
	assert_ptr_equal(at(mappings, 0x2fff, 20), FILE_A);
	assert_ptr_equal(at(mappings, 0x3000, 20), NULL);
	assert_ptr_equal(at(mappings, 0x5000, 20), FILE_B);
	assert_ptr_equal(at(mappings, 0x5000, 9), NULL);
}

static void test_mapping__overlap_closes_the_old_one(void **state)
{
	struct mappings *mappings = *state;
	uint32_t version = mappings->version;

	add(mappings, FILE_A, 0x1000, 0x5000, 0, 10);
	assert_int_equal(add(mappings, FILE_B, 0x1000, 0x5000, 0, 20), 1);
	assert_true(mappings->version > version);
	assert_int_equal(mappings->open_count, 1);
	assert_ptr_equal(at(mappings, 0x1000, 19), FILE_A);
	assert_ptr_equal(at(mappings, 0x1000, 20), FILE_B);
	mappings_prune(mappings, 21);
	assert_int_equal(mappings->closed_count, 0);
}

static void test_mapping__what_is_left_on_both_sides_stays(void **state)
{
	struct mappings *mappings = *state;

	add(mappings, FILE_A, 0x1000, 0x9000, 0x100000, 10);
	add(mappings, FILE_B, 0x4000, 0x5000, 0, 20);
	assert_int_equal(mappings->open_count, 3);
	assert_int_equal(mappings->open[0].end, 0x4000);
	assert_int_equal(mappings->open[2].start, 0x5000);
	assert_int_equal(mappings->open[2].offset, 0x104000);
	assert_ptr_equal(at(mappings, 0x4000, 15), FILE_A);
	assert_ptr_equal(at(mappings, 0x4000, 25), FILE_B);
	add(mappings, FILE_B, 0x3000, 0x6000, 0x20000, 30);
	assert_int_equal(mappings->open_count, 3);
	assert_int_equal(mappings->open[0].end, 0x3000);
	assert_int_equal(mappings->open[1].end, 0x6000);
	assert_int_equal(mappings->open[2].start, 0x6000);
	add(mappings, FILE_A, 0, 0x10000, 0, 40);
	assert_int_equal(mappings->open_count, 1);
}

static void test_mapping__neighbours_of_one_file_grow_together(void **state)
{
	struct mappings *mappings = *state;
	uint32_t version = mappings->version;

	add(mappings, FILE_A, 0x2000, 0x3000, 0x1000, 10);
	add(mappings, FILE_A, 0x4000, 0x5000, 0x3000, 10);
	assert_int_equal(add(mappings, FILE_A, 0x1000, 0x6000, 0, 20), 1);
	assert_int_equal(mappings->open_count, 1);
	assert_int_equal(mappings->open[0].start, 0x1000);
	assert_int_equal(mappings->open[0].end, 0x6000);
	assert_int_equal(mappings->open[0].offset, 0);
	assert_int_equal(mappings->version, version);
	/* without a file: code that was made at run time */
	add(mappings, NULL, 0x10000, 0x11000, 0, 10);
	assert_int_equal(add(mappings, NULL, 0x10000, 0x20000, 0, 20), 1);
	assert_int_equal(mappings->version, version);
	assert_int_equal(mappings->open_count, 2);
}

static void test_mapping__listing_closes_and_adds(void **state)
{
	struct mappings *mappings = *state;
	const struct mapping list[] = {
		{.start = 0x1000, .end = 0x3000, .file = FILE_A, .object = OBJECT},
		{.start = 0x5000, .end = 0x6000, .file = FILE_A, .object = OBJECT},
		{.start = 0x8000, .end = 0x9000, .file = FILE_B, .object = OBJECT},
	};

	add(mappings, FILE_A, 0x1000, 0x3000, 0, 10);
	add(mappings, FILE_B, 0x5000, 0x6000, 0, 10);
	add(mappings, FILE_B, 0x6000, 0x7000, 0, 10);
	assert_int_equal(mappings_replace(mappings, list, 3, 50, 50), 1);
	assert_int_equal(mappings->open_count, 3);
	assert_true(mappings->version > 0);
	assert_ptr_equal(at(mappings, 0x1000, 20), FILE_A);
	assert_ptr_equal(at(mappings, 0x5000, 20), FILE_B);
	assert_ptr_equal(at(mappings, 0x5000, 60), FILE_A);
	assert_ptr_equal(at(mappings, 0x6000, 60), NULL);
	assert_ptr_equal(at(mappings, 0x8000, 1), FILE_B);
	assert_int_equal(mappings_replace(mappings, list, 3, 60, 60), 0);
}

static void test_mapping__copies_are_their_own(void **state)
{
	struct mappings *mappings = *state, *copy;

	add(mappings, FILE_A, 0x1000, 0x3000, 0, 10);
	copy = mappings_copy(mappings);
	add(copy, FILE_B, 0x1000, 0x3000, 0, 20);
	assert_ptr_equal(at(mappings, 0x1000, 30), FILE_A);
	assert_ptr_equal(at(copy, 0x1000, 30), FILE_B);
	mappings_share(copy);
	assert_false(mappings_unshare(copy));
	assert_true(mappings_unshare(copy));
	mappings_free(copy);
}

static void test_mapping__number_is_limited(void **state)
{
	struct mappings *mappings = *state;
	int r = 1;

	for (uint64_t i = 0; i < MAPPINGS_MAX + 10 && r > 0; i++)
		r = add(mappings, i % 2 ? FILE_A : FILE_B, i << 12, (i + 1) << 12, 0, 10);
	assert_int_equal(r, -E2BIG);
	assert_true(mappings->open_count <= MAPPINGS_MAX);
}

static void test_mapping__what_came_after_the_question_stays(void **state)
{
	struct mappings *mappings = *state;
	const struct mapping list[] = {{.start = 0x1000, .end = 0x2000, .file = FILE_A},
				       {.start = 0x8000, .end = 0x9000, .file = FILE_A}};

	add(mappings, FILE_B, 0x1000, 0x2000, 0, 30);
	add(mappings, FILE_B, 0x5000, 0x6000, 0, 30);
	add(mappings, FILE_B, 0x7000, 0x8000, 0, 10);
	assert_int_equal(mappings_replace(mappings, list, 2, 20, 40), 1);
	assert_ptr_equal(at(mappings, 0x1000, 50), FILE_B);
	assert_ptr_equal(at(mappings, 0x5000, 50), FILE_B);
	assert_ptr_equal(at(mappings, 0x7000, 50), NULL);
	assert_ptr_equal(at(mappings, 0x8000, 50), FILE_A);
}

static void test_mapping__new_lists_have_their_own_version(void **state)
{
	struct mappings *mappings = *state, *other = mappings_new(), *copy;

	assert_int_not_equal(mappings->version, other->version);
	copy = mappings_copy(other);
	assert_int_not_equal(copy->version, other->version);
	mappings_free(copy);
	mappings_free(other);
}

static void test_mapping__closed_ones_are_bounded(void **state)
{
	struct mappings *mappings = *state;

	for (uint64_t i = 1; i < 3 * MAPPINGS_CLOSED_MAX; i++) {
		/* all at one moment, as in a process that replaces much at once */
		add(mappings, FILE_A, 0x1000 * i, 0x1000 * (i + 1), i << 32, 10);
		assert_int_equal(mappings_replace(mappings, NULL, 0, 20, 20), 1);
		assert_true(mappings->closed_count <= MAPPINGS_CLOSED_MAX);
		assert_ptr_equal(at(mappings, 0x1000 * i, 15), FILE_A);
	}
	assert_true(mappings->closed_count >= MAPPINGS_CLOSED_MAX / 2);
}

/* Compares with a plain model: a byte for each page. */
static void test_mapping__random_changes_match_a_model(void **state)
{
	struct mappings *mappings = *state;
	struct file *model[64] = {0};
	unsigned int seed = 1;

	for (uint64_t step = 1; step < 5000; step++) {
		unsigned int start = (unsigned int)rand_r(&seed) % 64;
		unsigned int end = start + 1 + (unsigned int)rand_r(&seed) % (64 - start);
		struct file *file = rand_r(&seed) % 2 ? FILE_A : FILE_B;
		uint64_t shift = (uint64_t)rand_r(&seed) % 2 << 20;

		add(mappings, file, start << 12, end << 12, (start << 12) + shift, step);
		for (unsigned int i = start; i < end; i++)
			model[i] = file;
		for (uint64_t i = 0; i < 64; i++)
			assert_true(!model[i] || at(mappings, i << 12, step + 1) == model[i]);
		for (size_t i = 1; i < mappings->open_count; i++)
			assert_true(mappings->open[i - 1].end <= mappings->open[i].start);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_mapping__what_came_after_the_question_stays,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_mapping__new_lists_have_their_own_version,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_mapping__closed_ones_are_bounded, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_mapping__adding_keeps_the_version, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_mapping__overlap_closes_the_old_one, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_mapping__what_is_left_on_both_sides_stays,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_mapping__neighbours_of_one_file_grow_together,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_mapping__listing_closes_and_adds, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_mapping__copies_are_their_own, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_mapping__number_is_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mapping__random_changes_match_a_model, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

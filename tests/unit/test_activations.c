/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of a list, and the frames of the loop that they belong to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tests/unit/build_code.h"
#include "worker/sample/activations.h"

#define GROUP	  BUILD_FRAME(0x1000, 7, 4), BUILD_BORDER(RUNTIME_BORDER_NOWHERE)
#define TIED(n)	  BUILD_FRAME(0x1000, 7, 4), BUILD_BORDER(n)
#define NOWHERE	  RUNTIME_BORDER_NOWHERE
#define LIST(...) ((const u64[]){__VA_ARGS__}), sizeof((const u64[]){__VA_ARGS__}) / 8

static const uint16_t loops[] = {2, 5, 9};

static void check(const u64 *words, size_t count, bool is_whole, const u64 *wanted,
		  size_t wanted_count)
{
	u64 tied[32];

	assert_int_equal(count, wanted_count);
	memcpy(tied, words, count * sizeof(*words));
	activations_tie(tied, count, loops, sizeof(loops) / sizeof(*loops), is_whole);
	assert_memory_equal(tied, wanted, count * sizeof(*words));
}

static void test_activations__one_for_each_group(void **state)
{
	(void)state;
	check(LIST(GROUP, GROUP, GROUP), true, LIST(TIED(2), TIED(5), TIED(9)));
}

static void test_activations__that_have_just_begun(void **state)
{
	(void)state;
	check(LIST(GROUP, GROUP), true, LIST(TIED(5), TIED(9)));
	check(LIST(GROUP), true, LIST(TIED(9)));
}

static void test_activations__that_have_ended(void **state)
{
	(void)state;
	check(LIST(GROUP, GROUP, GROUP, GROUP), true, LIST(TIED(2), TIED(2), TIED(5), TIED(9)));
}

/* The outermost ones lack: only the innermost ones can be tied. */
static void test_activations__of_what_is_cut(void **state)
{
	(void)state;
	check(LIST(GROUP, GROUP), false, LIST(TIED(2), TIED(5)));
	check(LIST(GROUP, GROUP, GROUP, GROUP), false,
	      LIST(TIED(2), TIED(5), TIED(9), TIED(NOWHERE)));
	check(LIST(GROUP, BUILD_FRAME(0x2000, 1, 1)), false,
	      LIST(TIED(2), BUILD_FRAME(0x2000, 1, 1)));
}

/* The functions of a coroutine end at frame 6; the main ones go on behind it. */
static void test_activations__of_coroutines(void **state)
{
	(void)state;
	check(LIST(GROUP, GROUP, BUILD_BORDER(6), GROUP), true,
	      LIST(TIED(2), TIED(5), BUILD_BORDER(6), TIED(9)));
	check(LIST(GROUP, BUILD_BORDER(6), GROUP), true, LIST(TIED(5), BUILD_BORDER(6), TIED(9)));
	check(LIST(GROUP, BUILD_BORDER(3), GROUP, BUILD_BORDER(6), GROUP), true,
	      LIST(TIED(2), BUILD_BORDER(3), TIED(5), BUILD_BORDER(6), TIED(9)));
	/* also of a list that goes on further out */
	check(LIST(GROUP, BUILD_BORDER(6)), false, LIST(TIED(5), BUILD_BORDER(6)));
}

/* The outer functions of a coroutine that was resumed have no activation yet. */
static void test_activations__of_resumed_coroutines(void **state)
{
	(void)state;
	check(LIST(GROUP, GROUP, GROUP, BUILD_BORDER(4), GROUP, GROUP), true,
	      LIST(TIED(2), TIED(4), TIED(4), BUILD_BORDER(4), TIED(5), TIED(9)));
	check(LIST(GROUP, BUILD_BORDER(1), GROUP, GROUP, GROUP), true,
	      LIST(TIED(1), BUILD_BORDER(1), TIED(2), TIED(5), TIED(9)));
}

static void test_activations__of_damaged_lists(void **state)
{
	(void)state;
	check(LIST(GROUP, 0x77, GROUP), true, LIST(TIED(9), 0x77, GROUP));
	check(LIST(RUNTIME_WORD_FRAME), true, LIST(RUNTIME_WORD_FRAME));
	check(LIST(BUILD_BORDER(NOWHERE), RUNTIME_WORD_FRAME), true,
	      LIST(BUILD_BORDER(9), RUNTIME_WORD_FRAME));
	activations_tie(NULL, 0, loops, 3, true);
}

static void check_idle(const u64 *words, size_t count, size_t loop_count, const u64 *wanted,
		       size_t wanted_count)
{
	u64 left[32];

	memcpy(left, words, count * sizeof(*words));
	assert_int_equal(activations_drop_idle(left, count, loop_count), wanted_count);
	assert_memory_equal(left, wanted, wanted_count * sizeof(*words));
}

/* Native code is between two runs of the loop. */
static void test_activations__that_are_idle(void **state)
{
	(void)state;
	check_idle(LIST(TIED(1), TIED(2), TIED(3)), 3, LIST(TIED(1), TIED(2), TIED(3)));
	check_idle(LIST(GROUP, GROUP), 3, LIST(GROUP, GROUP));
	check_idle(LIST(BUILD_FRAME(0x2000, 1, 1), GROUP, GROUP), 1, LIST(GROUP));
	check_idle(LIST(BUILD_BORDER(NOWHERE), GROUP), 1, LIST(GROUP));
	/* a loop that is not known */
	check_idle(LIST(GROUP, GROUP), 0, LIST(GROUP, GROUP));
	check_idle(LIST(0x77, GROUP), 1, LIST(0x77, GROUP));
	check_idle(LIST(GROUP, GROUP, RUNTIME_WORD_FRAME), 1, LIST(GROUP, RUNTIME_WORD_FRAME));
	assert_int_equal(activations_drop_idle(NULL, 0, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_activations__one_for_each_group),
		cmocka_unit_test(test_activations__that_have_just_begun),
		cmocka_unit_test(test_activations__that_have_ended),
		cmocka_unit_test(test_activations__of_what_is_cut),
		cmocka_unit_test(test_activations__of_coroutines),
		cmocka_unit_test(test_activations__of_resumed_coroutines),
		cmocka_unit_test(test_activations__of_damaged_lists),
		cmocka_unit_test(test_activations__that_are_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

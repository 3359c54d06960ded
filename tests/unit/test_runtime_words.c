/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a runtime's list behind the frames of a record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/build_code.h"
#include "worker/sample/runtime_words.h"

#define COUNT(words) (sizeof(words) / sizeof(*(words)))

static void check_frame(struct runtime_words *words, uint64_t code, uint32_t fingerprint,
			uint32_t instruction)
{
	struct runtime_frame frame;

	assert_true(runtime_words_next(words, &frame));
	assert_int_equal(frame.code, code);
	assert_int_equal(frame.fingerprint, fingerprint);
	assert_int_equal(frame.instruction, instruction);
}

static void check_border(struct runtime_words *words)
{
	struct runtime_frame frame;

	assert_false(runtime_words_next(words, &frame));
}

static void test_runtime_words__groups(void **state)
{
	const u64 list[] = {BUILD_FRAME(0x7f0000001000, 0xdeadbeef, 8),
			    BUILD_FRAME(0x2000, 2, RUNTIME_OFFSET_NONE), BUILD_BORDER(3),
			    BUILD_FRAME(0x3000, 3, 0)};
	struct runtime_words words;

	(void)state;
	assert_true(runtime_words_init(&words, list, COUNT(list)));
	assert_int_equal(words.frames, 3);
	assert_int_equal(runtime_words_border(&words), 3);
	check_frame(&words, 0x7f0000001000, 0xdeadbeef, 8);
	check_frame(&words, 0x2000, 2, RUNTIME_OFFSET_NONE);
	check_border(&words);
	assert_false(runtime_words_end(&words));
	assert_int_equal(runtime_words_border(&words), RUNTIME_WORDS_NO_BORDER);
	check_frame(&words, 0x3000, 3, 0);
	assert_true(runtime_words_end(&words));
	check_border(&words);
}

static void test_runtime_words__borders_alone(void **state)
{
	const u64 list[] = {BUILD_BORDER(1), BUILD_BORDER(RUNTIME_BORDER_NOWHERE)};
	struct runtime_words words;

	(void)state;
	assert_true(runtime_words_init(&words, list, COUNT(list)));
	assert_int_equal(words.frames, 0);
	assert_int_equal(runtime_words_border(&words), 1);
	check_border(&words);
	assert_int_equal(runtime_words_border(&words), RUNTIME_WORDS_NO_BORDER);
	check_border(&words);
	assert_true(runtime_words_end(&words));
	assert_true(runtime_words_init(&words, list, 0));
	assert_true(runtime_words_end(&words));
}

/* A second word may be any number, and so look like a border. */
static void test_runtime_words__second_words(void **state)
{
	const u64 list[] = {RUNTIME_WORD_FRAME | 0x1000, BUILD_BORDER(5), BUILD_BORDER(7)};
	struct runtime_words words;

	(void)state;
	assert_true(runtime_words_init(&words, list, COUNT(list)));
	assert_int_equal(words.frames, 1);
	assert_int_equal(runtime_words_border(&words), 7);
	check_frame(&words, 0x1000, 5, 1u << 28);
}

static void test_runtime_words__words_that_are_none(void **state)
{
	const u64 half[] = {BUILD_FRAME(0x1000, 1, 2), RUNTIME_WORD_FRAME | 0x2000};
	const u64 none[] = {BUILD_FRAME(0x1000, 1, 2), 0x2000, BUILD_BORDER(1)};
	const u64 both[] = {RUNTIME_WORD_FRAME | RUNTIME_WORD_BORDER, 0, 0};
	struct runtime_words words;

	(void)state;
	assert_false(runtime_words_init(&words, half, COUNT(half)));
	assert_int_equal(words.count, 2);
	assert_false(runtime_words_init(&words, none, COUNT(none)));
	assert_int_equal(words.count, 2);
	assert_int_equal(runtime_words_border(&words), RUNTIME_WORDS_NO_BORDER);
	assert_false(runtime_words_init(&words, both, COUNT(both)));
	assert_true(runtime_words_end(&words));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runtime_words__groups),
		cmocka_unit_test(test_runtime_words__borders_alone),
		cmocka_unit_test(test_runtime_words__second_words),
		cmocka_unit_test(test_runtime_words__words_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of CPython, and what an interpreter says of itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "worker/runtime/cpython_layout.h"

#define BYTES 1024

/* A description of 3.14 in which each offset is an eighth of its position. */
static uint64_t words[BYTES / 8];

static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < BYTES / 8; i++)
		words[i] = i;
	memcpy(words, "xdebugpy", 8);
	words[1] = CPYTHON_VERSION(3, 14) | 0x0af0;
	words[2] = 0;
	return 0;
}

static int read_size(size_t size, struct cpython_layout *ret_layout)
{
	return cpython_layout_read(words, size, ret_layout);
}

static void test_cpython_layout__describes_itself(void **state)
{
	struct cpython_layout layout;

	(void)state;
	assert_int_equal(read_size(BYTES, &layout), 0);
	assert_int_equal(layout.version, CPYTHON_VERSION(3, 14) | 0x0af0);
	assert_true(layout.is_described);
	assert_int_equal(layout.thread_frame, 208 / 8);
	assert_int_equal(layout.frame_owner, 288 / 8);
	assert_int_equal(layout.code_start, 384 / 8);
	assert_int_equal(layout.object_type, 408 / 8);
	assert_int_equal(layout.text_ascii, 640 / 8);
	assert_int_equal(layout.text_compact, 640 / 8 + 16);
	assert_int_equal(layout.cframe_frame, CPYTHON_NONE);
	assert_int_equal(layout.thread_base_frame, CPYTHON_NONE);
	assert_int_equal(layout.lines, CPYTHON_LOCATIONS);
	words[1] = CPYTHON_VERSION(3, 15);
	assert_int_equal(read_size(BYTES, &layout), 0);
	assert_int_equal(layout.thread_base_frame, 216 / 8);
}

/* Objects have a larger head, and from 3.14 on a text has a larger state. */
static void test_cpython_layout__without_a_global_lock(void **state)
{
	struct cpython_layout with, without;

	(void)state;
	assert_int_equal(read_size(BYTES, &with), 0);
	assert_false(with.is_without_lock);
	assert_int_equal(with.text_state_shift, 0);
	words[2] = 1;
	assert_int_equal(read_size(BYTES, &without), 0);
	assert_true(without.is_without_lock);
	assert_int_equal(without.code_flags, with.code_flags + 16);
	assert_int_equal(without.code_keyword_only, with.code_keyword_only + 16);
	assert_int_equal(without.text_state_shift, 6);
	assert_int_equal(without.code_copies, 392 / 8);
	assert_int_equal(without.frame_copy, 304 / 8);
	words[1] = CPYTHON_VERSION(3, 13);
	assert_int_equal(read_size(BYTES, &without), 0);
	assert_int_equal(without.text_state_shift, 0);
	assert_int_equal(without.frame_copy, CPYTHON_NONE);
}

/* An unknown interpreter is reported, never guessed. */
static void test_cpython_layout__unknown_interpreters(void **state)
{
	const uint64_t unknown[] = {CPYTHON_VERSION(3, 12), CPYTHON_VERSION(3, 16),
				    CPYTHON_VERSION(4, 14), CPYTHON_VERSION(2, 14),
				    CPYTHON_VERSION(3, 14) | 1ull << 32};
	struct cpython_layout layout;

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		words[1] = unknown[i];
		assert_int_equal(read_size(BYTES, &layout), -ENOTSUP);
	}
	words[1] = CPYTHON_VERSION(3, 14);
	words[2] = 2; /* neither with a global lock nor without one */
	assert_int_equal(read_size(BYTES, &layout), -ENOTSUP);
	words[0] = 0;
	assert_int_equal(read_size(BYTES, &layout), -ENOENT);
}

static void test_cpython_layout__damaged_description(void **state)
{
	struct cpython_layout layout;

	(void)state;
	assert_int_equal(read_size(0, &layout), -ENOENT);
	assert_int_equal(read_size(7, &layout), -ENOENT);
	assert_int_equal(read_size(20, &layout), -EBADMSG);
	/* the last field that is read */
	assert_int_equal(read_size(640 + 7, &layout), -EBADMSG);
	assert_int_equal(read_size(640 + 8, &layout), 0);
	words[208 / 8] = CPYTHON_OFFSET_MAX;
	assert_int_equal(read_size(BYTES, &layout), 0);
	words[208 / 8]++;
	assert_int_equal(read_size(BYTES, &layout), -EBADMSG);
}

static void test_cpython_layout__older_versions(void **state)
{
	struct cpython_layout layout;

	(void)state;
	assert_int_equal(cpython_layout_find(CPYTHON_VERSION(3, 9) | 0x02f0, &layout), 0);
	assert_int_equal(layout.version, CPYTHON_VERSION(3, 9) | 0x02f0);
	assert_false(layout.is_described);
	assert_int_equal(layout.lines, CPYTHON_LNOTAB);
	assert_int_equal(layout.frame_previous, 24);
	assert_int_equal(layout.text_compact, 72);
	assert_int_equal(layout.instruction_unit, 1);
	assert_int_equal(cpython_layout_find(CPYTHON_VERSION(3, 10), &layout), 0);
	assert_int_equal(layout.lines, CPYTHON_LINETABLE);
	assert_int_equal(layout.instruction_unit, 2);
	assert_int_equal(cpython_layout_find(CPYTHON_VERSION(3, 11), &layout), 0);
	assert_int_equal(layout.cframe_frame, 8);
	assert_int_equal(layout.frame_is_entry, 68);
	assert_int_equal(cpython_layout_find(CPYTHON_VERSION(3, 12), &layout), 0);
	assert_int_equal(layout.text_compact, 56);
	for (unsigned int minor = 0; minor < 9; minor++)
		assert_int_equal(cpython_layout_find(CPYTHON_VERSION(3, minor), &layout), -ENOTSUP);
	/* these describe themselves */
	assert_int_equal(cpython_layout_find(CPYTHON_VERSION(3, 13), &layout), -ENOTSUP);
	assert_int_equal(cpython_layout_find(CPYTHON_VERSION(2, 11), &layout), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_cpython_layout__describes_itself, setup),
		cmocka_unit_test_setup(test_cpython_layout__without_a_global_lock, setup),
		cmocka_unit_test_setup(test_cpython_layout__unknown_interpreters, setup),
		cmocka_unit_test_setup(test_cpython_layout__damaged_description, setup),
		cmocka_unit_test_setup(test_cpython_layout__older_versions, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

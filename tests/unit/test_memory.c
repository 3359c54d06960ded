/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a process of which only some ranges are there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "worker/runtime/memory.h"

#define AT  0x7f0000000000ull
#define END (1ull << 47)

static struct memory memory;
static unsigned char process[512];

static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(process); i++)
		process[i] = (unsigned char)(i * 7);
	memory = (struct memory){0};
	return 0;
}

static void test_memory__ranges(void **state)
{
	unsigned char bytes[32];

	(void)state;
	assert_int_equal(memory_read(&memory, AT, bytes, 1), -EFAULT);
	assert_int_equal(memory_add(&memory, AT, process, 16), 0);
	assert_int_equal(memory_add(&memory, AT + 100, process + 100, 32), 0);
	assert_int_equal(memory_read(&memory, AT, bytes, 16), 0);
	assert_memory_equal(bytes, process, 16);
	assert_int_equal(memory_read(&memory, AT + 101, bytes, 31), 0);
	assert_memory_equal(bytes, process + 101, 31);
	assert_int_equal(memory_read(&memory, AT + 101, bytes, 32), -EFAULT);
	assert_int_equal(memory_read(&memory, AT + 16, bytes, 1), -EFAULT);
	assert_int_equal(memory_read(&memory, AT - 1, bytes, 2), -EFAULT);
	assert_int_equal(memory_read(&memory, AT + 50, bytes, 0), 0);
}

static void test_memory__words(void **state)
{
	uint64_t word, wanted;

	(void)state;
	assert_int_equal(memory_add(&memory, AT, process, 16), 0);
	assert_int_equal(memory_word(&memory, AT + 5, &word), 0);
	memcpy(&wanted, process + 5, sizeof(wanted));
	assert_int_equal(word, wanted);
	assert_int_equal(memory_word(&memory, AT + 9, &word), -EFAULT);
}

/* A name may lie within the bytes of the code. */
static void test_memory__ranges_that_overlap(void **state)
{
	unsigned char bytes[64];

	(void)state;
	assert_int_equal(memory_add(&memory, AT, process, 40), 0);
	assert_int_equal(memory_add(&memory, AT + 8, process + 8, 64), 0);
	assert_int_equal(memory_add(&memory, AT + 16, process + 16, 0), 0);
	assert_int_equal(memory_left(&memory, AT + 8), 64);
	assert_int_equal(memory_left(&memory, AT + 4), 36);
	assert_int_equal(memory_left(&memory, AT + 72), 0);
	assert_int_equal(memory_read(&memory, AT + 8, bytes, 64), 0);
	assert_memory_equal(bytes, process + 8, 64);
}

static void test_memory__addresses_of_no_process(void **state)
{
	unsigned char byte;

	(void)state;
	assert_int_equal(memory_add(&memory, END - 8, process, 9), -EFAULT);
	assert_int_equal(memory_add(&memory, ~0ull, process, 1), -EFAULT);
	assert_int_equal(memory_add(&memory, AT, process, SIZE_MAX), -EFAULT);
	assert_int_equal(memory_add(&memory, END - 8, process, 8), 0);
	assert_int_equal(memory_read(&memory, END - 1, &byte, 1), 0);
	assert_int_equal(memory_read(&memory, ~0ull, &byte, 1), -EFAULT);
	assert_int_equal(memory_left(&memory, END), 0);
}

static void test_memory__is_bounded(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < MEMORY_RANGES_MAX; i++)
		assert_int_equal(memory_add(&memory, AT + i * 4096ull, process, 1), 0);
	assert_int_equal(memory_add(&memory, AT, process, 1), -ENOSPC);
}

#define TEST(name) cmocka_unit_test_setup(test_memory__##name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ranges),
		TEST(words),
		TEST(ranges_that_overlap),
		TEST(addresses_of_no_process),
		TEST(is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

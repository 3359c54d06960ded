/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a process that is read bit by bit, and what is wanted of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "worker/runtime/memory.h"

#define AT 0x7f0000000000ull

static struct memory *memory;
static unsigned char process[2 * MEMORY_WANT_MAX];

static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(process); i++)
		process[i] = (unsigned char)(i * 7);
	memory = memory_new();
	return memory ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	memory_free(memory);
	return 0;
}

/* Answers all wants from the process, whose memory ends after `end` bytes. Returns their number. */
static unsigned int answer_wants(size_t end)
{
	unsigned int wants = 0;
	uint64_t address;
	size_t size;

	while ((size = memory_want(memory, &address)) > 0) {
		size_t at = (size_t)(address - AT), got = 0;

		if (at < end)
			got = end - at;
		if (got > size)
			got = size;
		memory_answer(memory, address, size, process + at, got);
		wants++;
	}
	return wants;
}

static void test_memory__is_read_once(void **state)
{
	unsigned char bytes[600];
	uint64_t address;

	(void)state;
	assert_int_equal(memory_read(memory, AT + 250, bytes, sizeof(bytes)), -EAGAIN);
	/* four lines side by side are one request */
	assert_int_equal(memory_want(memory, &address), 4 * MEMORY_LINE);
	assert_int_equal(address, AT);
	assert_int_equal(memory_want(memory, &address), 0);
	assert_int_equal(memory_read(memory, AT + 250, bytes, sizeof(bytes)), -EAGAIN);
	assert_int_equal(memory_want(memory, &address), 0);
	memory_answer(memory, AT, 4 * MEMORY_LINE, process, 4 * MEMORY_LINE);
	assert_int_equal(memory_read(memory, AT + 250, bytes, sizeof(bytes)), 0);
	assert_memory_equal(bytes, process + 250, sizeof(bytes));
	assert_int_equal(memory_read(memory, AT, bytes, 1), 0);
	assert_int_equal(bytes[0], process[0]);
}

static void test_memory__words(void **state)
{
	uint64_t word, wanted;

	(void)state;
	assert_int_equal(memory_word(memory, AT + 252, &word), -EAGAIN);
	assert_int_equal(answer_wants(sizeof(process)), 1);
	assert_int_equal(memory_word(memory, AT + 252, &word), 0);
	memcpy(&wanted, process + 252, sizeof(wanted));
	assert_int_equal(word, wanted);
}

static void test_memory__requests_are_bounded(void **state)
{
	static unsigned char bytes[MEMORY_WANT_MAX + 1];

	(void)state;
	assert_int_equal(memory_read(memory, AT, bytes, sizeof(bytes)), -EAGAIN);
	assert_int_equal(answer_wants(sizeof(process)), 2);
	assert_int_equal(memory_read(memory, AT, bytes, sizeof(bytes)), 0);
	assert_memory_equal(bytes, process, sizeof(bytes));
}

static void test_memory__that_cannot_be_read(void **state)
{
	unsigned char bytes[16];

	(void)state;
	assert_int_equal(memory_read(memory, AT, bytes, 16), -EAGAIN);
	assert_int_equal(memory_read(memory, AT + 2 * MEMORY_LINE - 8, bytes, 16), -EAGAIN);
	/* the third line is not whole */
	answer_wants(2 * MEMORY_LINE + 9);
	assert_int_equal(memory_read(memory, AT, bytes, 16), 0);
	assert_int_equal(memory_read(memory, AT + 2 * MEMORY_LINE - 8, bytes, 16), -EFAULT);
	assert_int_equal(memory_read(memory, AT + 2 * MEMORY_LINE - 8, bytes, 8), 0);
	assert_int_equal(memory_read(memory, (1ull << 47) - 8, bytes, 9), -EFAULT);
	assert_int_equal(memory_read(memory, ~0ull, bytes, 2), -EFAULT);
	assert_int_equal(memory_read(memory, AT, bytes, 0), 0);
}

/* A hostile process leads from one place to the next. */
static void test_memory__of_one_question_is_bounded(void **state)
{
	unsigned char byte;
	int r = 0;

	(void)state;
	for (unsigned int i = 0; i < MEMORY_LINES_MAX; i++)
		assert_int_equal(memory_read(memory, AT + i * 4096ull, &byte, 1), -EAGAIN);
	r = memory_read(memory, AT + MEMORY_LINES_MAX * 4096ull, &byte, 1);
	assert_int_equal(r, -ENOSPC);
	memory_reset(memory);
	assert_int_equal(memory_read(memory, AT, &byte, 1), -EAGAIN);
}

/* A reader may answer what nobody asked, or twice. */
static void test_memory__answers_that_nobody_wanted(void **state)
{
	unsigned char bytes[2] = {0};

	(void)state;
	memory_answer(memory, AT, MEMORY_LINE, process, MEMORY_LINE);
	assert_int_equal(memory_read(memory, AT + 1, bytes, 1), -EAGAIN);
	memory_answer(memory, AT, MEMORY_LINE, process, MEMORY_LINE); /* wanted, not asked */
	assert_int_equal(memory_read(memory, AT + 1, bytes, 1), -EAGAIN);
	answer_wants(sizeof(process));
	memory_answer(memory, AT, MEMORY_LINE, process + 1, MEMORY_LINE);
	assert_int_equal(memory_read(memory, AT + 1, bytes, 1), 0);
	assert_int_equal(bytes[0], process[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_memory__##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(is_read_once),
		TEST(words),
		TEST(requests_are_bounded),
		TEST(that_cannot_be_read),
		TEST(of_one_question_is_bounded),
		TEST(answers_that_nobody_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

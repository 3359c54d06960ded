/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fake_target.h"
#include "worker/process/parser.h"
#include "object/unwind/unwind_table.h"

static void take(struct parser *parser, struct parser_result *result)
{
	struct pollfd fd = {.fd = parser_fd(parser), .events = POLLIN};

	while (!parser_take(parser, result))
		assert_int_equal(poll(&fd, 1, 20000), 1);
}

static void test_parser__gives_table_and_segments(void **state)
{
	struct parser_job job = {.number = 7, .size = 1};
	struct parser_result result;
	struct parser *parser;

	(void)state;
	job.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(parser_new(&parser), 0);
	assert_int_equal(parser_submit(parser, &job), 0);
	take(parser, &result);
	assert_int_equal(result.number, 7);
	assert_int_equal(result.error, 0);
	assert_non_null(result.table);
	assert_true(result.segment_count >= 1 && result.segments[0].executable);
	parser_result_release(&result);
	assert_false(parser_take(parser, &result));
	parser_free(parser);
	close(job.fd);
}

static void test_parser__other_files_are_an_error(void **state)
{
	struct parser_job job = {.number = 1, .fd = fake_file("no program", 10), .size = 10};
	struct parser_result result;

	(void)state;
	parser_run(&job, &result);
	assert_int_equal(result.error, -ENOEXEC);
	assert_null(result.table);
	parser_result_release(&result);
	close(job.fd);
}

static void test_parser__small_files_come_first(void **state)
{
	static const size_t sizes[] = {500, 30, 10, 400, 20};
	struct parser_job big = {.number = 99, .fd = -1, .bytes = calloc(1, 64 << 20)};
	size_t order[6], small = 0;
	struct parser *parser;

	(void)state;
	big.size = 64 << 20;
	assert_int_equal(parser_new(&parser), 0);
	/* Keeps the thread busy while other jobs queue up. */
	assert_int_equal(parser_submit(parser, &big), 0);
	for (size_t i = 0; i < 5; i++) {
		struct parser_job job = {
			.number = sizes[i], .fd = -1, .bytes = big.bytes, .size = sizes[i]};

		assert_int_equal(parser_submit(parser, &job), 0);
	}
	for (size_t i = 0; i < 6; i++) {
		struct parser_result result;

		take(parser, &result);
		order[i] = result.number;
		parser_result_release(&result);
	}
	for (size_t i = 0; i < 6; i++)
		small += order[i] == 10;
	assert_int_equal(small, 1);
	assert_true(order[5] == 500 || order[5] == 99);
	parser_free(parser);
	free((void *)(uintptr_t)big.bytes);
}

static void test_parser__cancelled_jobs_are_dropped(void **state)
{
	struct parser *parser;
	struct parser_job job = {.fd = -1, .bytes = "", .size = 1};

	(void)state;
	assert_int_equal(parser_new(&parser), 0);
	for (job.number = 0; job.number < 100; job.number++)
		assert_int_equal(parser_submit(parser, &job), 0);
	parser_cancel(parser);
	parser_free(parser);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parser__gives_table_and_segments),
		cmocka_unit_test(test_parser__other_files_are_an_error),
		cmocka_unit_test(test_parser__small_files_come_first),
		cmocka_unit_test(test_parser__cancelled_jobs_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "object/unwind/pace.h"
#include "object/unwind/unwind_table.h"
#include "tests/unit/build_cfi.h"
#include "tests/unit/build_elf.h"
#include "tests/unit/build_php.h"
#include "tests/unit/fake_target.h"
#include "worker/process/budget.h"
#include "worker/process/journal.h"
#include "worker/process/parser.h"
#include "worker/runtime/runtime.h"

#define CGROUP 7777u
#define OTHER  8888u
#define TEXT   0x1000000ull

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
	assert_int_equal(parser_new(budget_new(), &parser), 0);
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
	parser_run(&job, NULL, &result);
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
	assert_int_equal(parser_new(budget_new(), &parser), 0);
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
	assert_int_equal(parser_new(budget_new(), &parser), 0);
	for (job.number = 0; job.number < 100; job.number++)
		assert_int_equal(parser_submit(parser, &job), 0);
	parser_cancel(parser);
	parser_free(parser);
}

/* Makes an object with so many functions of 32 rows each: free(). */
static unsigned char *make_object(unsigned int functions, size_t *ret_size)
{
	enum {
		ROWS = 32
	};
	unsigned char code[3 * ROWS], *bytes;
	struct build_cfi frames = {0};
	size_t cie = build_cfi_usual_cie(&frames);

	for (unsigned int i = 0; i < ROWS; i++) {
		code[3 * i] = 0x41; /* DW_CFA_advance_loc 1 */
		code[3 * i + 1] = 0x0e;
		code[3 * i + 2] = (unsigned char)(8 + 8 * (i % 9));
	}
	for (unsigned int i = 0; i < functions; i++)
		build_cfi_fde(&frames, cie, TEXT + i * 2ull * ROWS, 2ull * ROWS,
			      (struct build_cfi_code){code, sizeof(code)});
	bytes = build_elf_with_frames(TEXT, functions * 2ull * ROWS, frames.bytes, frames.size,
				      ret_size);
	build_cfi_release(&frames);
	return bytes;
}

static struct parser_job job_of(uint64_t number, uint64_t payer, const void *bytes, size_t size)
{
	return (struct parser_job){.number = number,
				   .payer = payer,
				   .fd = -1,
				   .bytes = bytes,
				   .size = size,
				   .identity = {1, number, 1, 1}};
}

/* Returns the CPU time of this process, whose other thread waits for the parse thread. */
static uint64_t process_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

/* A large file has been under way for a while when a small one comes, which is ready first. */
static void test_parser__small_file_does_not_wait_for_a_large_one(void **state)
{
	size_t large_size, small_size;
	unsigned char *large = make_object(100000, &large_size);
	unsigned char *small = make_object(2, &small_size);
	struct parser_job jobs[] = {job_of(1, BUDGET_ROOT, large, large_size),
				    job_of(2, BUDGET_ROOT, small, small_size)};
	struct journal journal = {0};
	struct parser_result result;
	struct parser *parser;
	uint64_t begun;

	(void)state;
	assert_true(large_size > PARSER_SMALL && small_size < PARSER_SMALL);
	assert_int_equal(parser_new(budget_new(), &parser), 0);
	parser_keep_journal(parser, &journal);
	begun = process_time();
	assert_int_equal(parser_submit(parser, &jobs[0]), 0);
	while (process_time() < begun + 10 * NS_PER_MS)
		usleep(100);
	assert_int_equal(parser_submit(parser, &jobs[1]), 0);
	take(parser, &result);
	assert_int_equal(result.number, 2);
	assert_non_null(result.table);
	parser_result_release(&result);
	take(parser, &result);
	assert_int_equal(result.number, 1);
	assert_non_null(result.table);
	parser_result_release(&result);
	parser_free(parser);
	assert_int_equal(journal.parsing.inode, 0);
	free(large);
	free(small);
}

static int end_at_third(void *context)
{
	return ++*(int *)context == 3 ? -ETIME : 0;
}

static void test_parser__work_ends_when_its_pace_says_so(void **state)
{
	int turns = 0;
	struct pace pace = {.turn = end_at_third, .context = &turns};
	struct parser_result result;
	struct parser_job job;
	unsigned char *bytes;
	size_t size;

	(void)state;
	bytes = make_object(1000, &size);
	job = job_of(1, BUDGET_ROOT, bytes, size);
	parser_run(&job, &pace, &result);
	assert_int_equal(turns, 3);
	assert_int_equal(result.error, 0);
	assert_int_equal(result.table_error, -ETIME);
	assert_null(result.table);
	parser_result_release(&result);
	free(bytes);
}

static struct parser *parser_with_debt(uint64_t payer)
{
	struct budget *budget = budget_new();
	struct parser *parser;

	assert_non_null(budget);
	budget_charge(budget, payer, 1000 * NS_PER_SECOND, time_now());
	assert_int_equal(parser_new(budget, &parser), 0);
	return parser;
}

/* Returns when the thread has looked at all that waits. */
static void pass(struct parser *parser, uint64_t number)
{
	struct parser_job job = job_of(number, BUDGET_ROOT, "", 1);
	struct parser_result result;

	assert_int_equal(parser_submit(parser, &job), 0);
	take(parser, &result);
	assert_int_equal(result.number, number);
	parser_result_release(&result);
}

static void test_parser__overdrawn_work_rests_and_is_counted(void **state)
{
	struct parser *parser = parser_with_debt(CGROUP);
	struct parser_job job = job_of(1, CGROUP, "", 1);
	struct parser_counts counts;
	struct parser_result result;

	(void)state;
	assert_int_equal(parser_submit(parser, &job), 0);
	pass(parser, 2);
	parser_counts(parser, &counts);
	assert_int_equal(counts.rested, 1);
	parser_cancel(parser);
	take(parser, &result);
	assert_int_equal(result.number, 1);
	assert_int_equal(result.error, 0);
	assert_int_equal(result.table_error, -EDQUOT);
	parser_result_release(&result);
	parser_free(parser);
}

static void test_parser__another_cgroup_pays(void **state)
{
	struct parser *parser = parser_with_debt(CGROUP);
	struct parser_job job = job_of(1, CGROUP, "", 1);
	struct parser_result result;

	(void)state;
	assert_int_equal(parser_submit(parser, &job), 0);
	pass(parser, 2);
	parser_share(parser, 1, OTHER);
	take(parser, &result);
	assert_int_equal(result.number, 1);
	assert_int_equal(result.error, -ENOEXEC);
	parser_result_release(&result);
	parser_free(parser);
}

static void test_parser__places_of_overdrawn_work_are_bounded(void **state)
{
	struct parser *parser = parser_with_debt(CGROUP);
	struct parser_job job = job_of(0, CGROUP, "", 1);
	struct parser_counts counts;

	(void)state;
	for (; job.number < PARSER_RESTING_MAX; job.number++) {
		assert_int_equal(parser_has_place(parser, CGROUP), job.number < PARSER_WAITING_MAX);
		assert_int_equal(parser_submit(parser, &job), 0);
	}
	assert_int_equal(parser_submit(parser, &job), -EDQUOT);
	assert_true(parser_has_place(parser, OTHER));
	parser_counts(parser, &counts);
	assert_int_equal(counts.given_up, 1);
	job.payer = OTHER;
	assert_int_equal(parser_submit(parser, &job), 0);
	parser_free(parser);
}

/* A payer that is not overdrawn yet has no more places. The jobs are too large to be done while the
 * first file is under way. */
static void test_parser__places_of_any_work_are_bounded(void **state)
{
	const size_t size = PARSER_SMALL + 1;
	void *zeroes = calloc(1, size);
	struct parser_job job = job_of(2, CGROUP, zeroes, size), first;
	size_t large_size;
	unsigned char *large = make_object(100000, &large_size);
	struct parser *parser;

	(void)state;
	first = job_of(1, BUDGET_ROOT, large, large_size);
	assert_int_equal(parser_new(budget_new(), &parser), 0);
	assert_int_equal(parser_submit(parser, &first), 0);
	while (parser_submit(parser, &job) == 0)
		job.number++;
	assert_true(job.number >= PARSER_RESTING_MAX);
	assert_int_equal(parser_submit(parser, &job), -EDQUOT);
	assert_false(parser_has_place(parser, CGROUP));
	assert_int_equal(parser_waiting(parser, CGROUP), PARSER_RESTING_MAX);
	job.payer = OTHER;
	assert_true(parser_has_place(parser, OTHER));
	assert_int_equal(parser_submit(parser, &job), 0);
	parser_free(parser);
	free(large);
	free(zeroes);
}

static void test_parser__thread_has_normal_priority(void **state)
{
	int lowest = 100, nice = getpriority(PRIO_PROCESS, 0);
	struct parser *parser;
	struct dirent *entry;
	DIR *threads;

	(void)state;
	if (setpriority(PRIO_PROCESS, 0, -5))
		skip();
	assert_int_equal(parser_new(budget_new(), &parser), 0);
	threads = opendir("/proc/self/task");
	assert_non_null(threads);
	while ((entry = readdir(threads)) != NULL) {
		int thread = (int)strtol(entry->d_name, NULL, 10);

		if (thread > 0 && thread != getpid() &&
		    getpriority(PRIO_PROCESS, (id_t)thread) < lowest)
			lowest = getpriority(PRIO_PROCESS, (id_t)thread);
	}
	closedir(threads);
	assert_int_equal(lowest, 0);
	parser_free(parser);
	setpriority(PRIO_PROCESS, 0, nice);
}

/* Returns the rule for code that a PHP makes whose loop has these frames. */
static u64 made_rule(struct build_cfi_code loop)
{
	struct parser_result result;
	struct parser_job job;
	size_t size;
	unsigned char *bytes = build_php_file("API20240924,NTS", 1664, loop, &size);
	u64 rule;

	job = job_of(1, BUDGET_ROOT, bytes, size);
	parser_run(&job, NULL, &result);
	assert_int_equal(result.runtime, RUNTIME_PHP);
	assert_non_null(result.setup);
	rule = result.setup->made_rule;
	parser_result_release(&result);
	free(bytes);
	return rule;
}

static void test_parser__code_that_php_makes_has_the_rule_of_most_of_its_loop(void **state)
{
	u64 rule;

	(void)state;
	/* 0x20 bytes of rsp + 8, 0x300 of rsp + 0x60, the rest of rsp + 0x10 */
	rule = made_rule(INSTRUCTIONS(0x02, 0x20, 0x0e, 0x60, 0x03, 0, 3, 0x0e, 0x10));
	assert_int_equal(rule_kind(rule), RULE_SP);
	assert_int_equal(rule_offset(rule), 0x60);
	/* rbp + 0x10 all the time */
	rule = made_rule(INSTRUCTIONS(0x0c, 6, 0x10));
	assert_int_equal(rule_kind(rule), RULE_BP);
	assert_int_equal(rule_offset(rule), 0x10);
	/* the CFA is what rsp + 8 points to: no rule of its own */
	assert_int_equal(made_rule(INSTRUCTIONS(0x0f, 3, 0x77, 8, 0x06)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parser__gives_table_and_segments),
		cmocka_unit_test(test_parser__other_files_are_an_error),
		cmocka_unit_test(test_parser__small_files_come_first),
		cmocka_unit_test(test_parser__cancelled_jobs_are_dropped),
		cmocka_unit_test(test_parser__small_file_does_not_wait_for_a_large_one),
		cmocka_unit_test(test_parser__work_ends_when_its_pace_says_so),
		cmocka_unit_test(test_parser__overdrawn_work_rests_and_is_counted),
		cmocka_unit_test(test_parser__another_cgroup_pays),
		cmocka_unit_test(test_parser__places_of_overdrawn_work_are_bounded),
		cmocka_unit_test(test_parser__places_of_any_work_are_bounded),
		cmocka_unit_test(test_parser__thread_has_normal_priority),
		cmocka_unit_test(test_parser__code_that_php_makes_has_the_rule_of_most_of_its_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

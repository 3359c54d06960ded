/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/runtimes.h"
#include "helper/output/summary.h"

static const char *print(const struct summary *summary, bool verbose)
{
	static char text[8192];
	FILE *stream = fmemopen(text, sizeof(text), "w");

	summary_print(summary, verbose, stream);
	fclose(stream);
	return text;
}

static void test_summary__classes(void **state)
{
	struct counted counted = {.expected = 101, .samples = 100};
	struct message_summary worker = {.without_names = 4};
	struct summary sum;

	(void)state;
	counted.reason[REASON_end_root] = worker.reason[REASON_end_root] = 90;
	counted.reason[REASON_end_no_user] = worker.reason[REASON_end_no_user] = 5;
	counted.reason[REASON_cut_exec] = worker.reason[REASON_cut_exec] = 3;
	counted.reason[REASON_lost_ring_full] = 2;
	summary_make(&counted, &worker, false, &sum);
	assert_int_equal(sum.taken, 100);
	assert_int_equal(sum.complete, 95);
	assert_int_equal(sum.cut, 3);
	assert_int_equal(sum.lost, 2);
	assert_int_equal(sum.discarded, 0);
	assert_non_null(strstr(print(&sum, false),
			       "samples: expected 101, taken 100, complete 95 (95.00 %), cut 3, "
			       "without names 4, lost 2\n  cut  cut_exec: 3  ("));
	assert_non_null(strstr(print(&sum, false), "\n  lost lost_ring_full: 2  ("));
	assert_null(strstr(print(&sum, false), "end_root"));
	assert_non_null(strstr(print(&sum, true), "\n  end  end_root: 90  ("));
}

static void test_summary__guesses_are_apart(void **state)
{
	struct counted counted = {.expected = 10, .samples = 10};
	struct message_summary worker = {0};
	struct summary sum;

	(void)state;
	counted.reason[REASON_end_root] = worker.reason[REASON_end_root] = 7;
	counted.reason[REASON_guess_root] = worker.reason[REASON_guess_root] = 2;
	counted.reason[REASON_cut_exec] = worker.reason[REASON_cut_exec] = 1;
	summary_make(&counted, &worker, false, &sum);
	assert_int_equal(sum.complete, 7);
	assert_int_equal(sum.guessed, 2);
	assert_non_null(strstr(print(&sum, false),
			       "taken 10, complete 7 (70.00 %), complete (guessed) 2, cut 1, "));
	assert_non_null(strstr(print(&sum, false), "\n  guess guess_root: 2  ("));
}

/* BPF counts as guesses what the worker proves. */
static void test_summary__proven_guesses_are_complete(void **state)
{
	struct counted counted = {.expected = 10, .samples = 10};
	struct message_summary worker = {0};
	struct summary sum;

	(void)state;
	counted.reason[REASON_guess_root] = 10;
	worker.reason[REASON_guess_root] = 3;
	worker.reason[REASON_end_named] = 6;
	summary_make(&counted, &worker, false, &sum);
	assert_int_equal(sum.complete, 6);
	assert_int_equal(sum.guessed, 3);
	assert_int_equal(sum.lost, 1);
	worker.reason[REASON_end_named] = 1000; /* more than there are */
	summary_make(&counted, &worker, false, &sum);
	assert_int_equal(sum.complete, 10);
	assert_int_equal(sum.guessed, 0);
	assert_int_equal(sum.lost, 0);
}

static void test_summary__nothing_is_expected_of_what_is_counted(void **state)
{
	struct counted counted = {.counted = true, .samples = 5};
	struct message_summary worker = {0};
	struct summary sum;

	(void)state;
	counted.reason[REASON_end_root] = worker.reason[REASON_end_root] = 3;
	counted.reason[REASON_lost_throttled] = 2;
	summary_make(&counted, &worker, false, &sum);
	assert_memory_equal(print(&sum, false), "samples: taken 5, complete 3 (60.00 %), cut 0, ",
			    47);
	assert_non_null(strstr(print(&sum, false), "\n  lost lost_throttled: 2  ("));
}

static void test_summary__every_sample_has_one_fate(void **state)
{
	struct counted counted = {0};
	struct message_summary worker = {.without_names = ~0ull, .discarded = 3, .unkept = 4};
	struct summary sum;
	uint64_t all = 0;

	(void)state;
	for (unsigned int i = 0; i < REASON_COUNT; i++) {
		counted.reason[i] = 10 + i;
		all += 10 + i;
		worker.reason[i] = i % 3 ? ~0ull : i; /* too many, too few */
	}
	counted.samples = all;
	summary_make(&counted, &worker, false, &sum);
	assert_int_equal(sum.taken, all);
	assert_int_equal(sum.complete + sum.guessed + sum.cut + sum.lost, all);
	assert_int_equal(sum.without_names, sum.complete + sum.guessed + sum.cut);
	assert_true(sum.discarded > 0);
	assert_int_equal(sum.malformed, 3);
	assert_int_equal(sum.unkept, 4);
	assert_non_null(strstr(print(&sum, false), "\n  lost lost_malformed: 3  ("));
	assert_non_null(strstr(print(&sum, false), "\n  lost lost_unkept: 4  ("));
	assert_non_null(strstr(print(&sum, false), "\n  lost lost_unread: "));
	/* no more than there are, in spite of the worker */
	worker.discarded = worker.unkept = ~0ull;
	summary_make(&counted, &worker, false, &sum);
	assert_int_equal(sum.malformed, sum.discarded);
	assert_int_equal(sum.unkept, 0);
	assert_null(strstr(print(&sum, false), "lost_unread"));
}

/* A worker that was taken over tells names and numbers. */
static void test_summary__runtimes(void **state)
{
	struct counted counted = {.samples = 1000};
	struct message_summary worker = {.runtime = {{610, RUNTIME_CPYTHON, "python3.11"},
						     {20, RUNTIME_PERL, "a\033[2J"},
						     {9, RUNTIME_RUBY, "seldom"}}};
	struct summary sum;
	const char *text;

	(void)state;
	counted.reason[REASON_end_root] = worker.reason[REASON_end_root] = 1000;
	summary_make(&counted, &worker, false, &sum);
	text = print(&sum, false);
	assert_non_null(strstr(text, "\n  note runtime: python3.11, 61 % of samples: the "
				     "interpreter's own functions, not the script's (CPython: "));
	assert_non_null(strstr(text, "\n  note runtime: a?[2J, 2 % of samples: "));
	assert_null(strstr(text, "seldom"));
	memset(worker.runtime, 'x', sizeof(worker.runtime));
	worker.runtime[0].runtime = RUNTIME_CPYTHON;
	worker.runtime[1].samples = 1000;
	worker.runtime[1].runtime = RUNTIME_COUNT;
	worker.runtime[2].samples = 1000;
	worker.runtime[2].runtime = RUNTIME_RUBY;
	summary_make(&counted, &worker, false, &sum);
	text = print(&sum, false);
	assert_null(strstr(text, "CPython"));
	assert_non_null(strstr(text, "\n  note runtime: xxxxxxxxxxxxxxxxxxxxxxxxxxxx, 100 % of "));
}

static void test_summary__waited(void **state)
{
	struct summary sum = {.taken = 10, .complete = 10};

	(void)state;
	assert_null(strstr(print(&sum, false), "note"));
	sum.waited = (struct message_waited){.used = 99000000, .wall = 1000000000, .threads = 7};
	assert_non_null(strstr(print(&sum, false), "\n  note waited: the recorded processes used "
						   "99 ms of CPU time in 1.0 s, 10 % of one CPU (7 "
						   "threads): they mostly waited, "));
	sum.waited.used = 100000000;
	assert_null(strstr(print(&sum, false), "note"));
}

/* The objects without rules, by share. A worker that was taken over tells names and numbers. */
static void test_summary__objects_without_rules(void **state)
{
	struct counted counted = {.samples = 1000};
	struct message_summary worker = {.object = {{123, -ESTALE, "libfoo.so"},
						    {50, -ENOENT, "a\033[2J"},
						    {1001, 5, "lie"}}};
	struct summary sum;
	const char *text;

	(void)state;
	counted.reason[REASON_cut_no_rule] = worker.reason[REASON_cut_no_rule] = 1000;
	summary_make(&counted, &worker, false, &sum);
	text = print(&sum, false);
	assert_non_null(strstr(text,
			       "\n  no rules: libfoo.so 12.3 % of the samples (the process had "
			       "another program before the file was opened)\n"));
	assert_non_null(
		strstr(text, "\n  no rules: a?[2J 5.0 % of the samples (no unwind information)\n"));
	assert_null(strstr(text, "lie"));
	worker.object[1].samples = 9;
	summary_make(&counted, &worker, false, &sum);
	assert_null(strstr(print(&sum, false), "[2J"));
	assert_non_null(strstr(print(&sum, true), "[2J 0.9 % of the samples"));
	/* more samples than were cut for want of rules */
	worker.object[1].samples = 900;
	worker.object[2].samples = 860;
	summary_make(&counted, &worker, false, &sum);
	assert_null(strstr(print(&sum, true), "[2J"));
	assert_non_null(strstr(print(&sum, true), "lie 86.0 %"));
	memset(worker.object, 'x', sizeof(worker.object));
	worker.object[0].samples = 1;
	summary_make(&counted, &worker, false, &sum);
	assert_null(strchr(print(&sum, false), '\x7f'));
}

/* Stacks may be cut for other causes than the want of rules. */
static void test_summary__objects_without_rules_in_whole_stacks(void **state)
{
	struct counted counted = {.samples = 1000};
	struct message_summary worker = {.object = {{120, -ENOENT, "lie"}, {100, -ENOENT, "new"}}};
	struct summary sum;

	(void)state;
	counted.reason[REASON_end_root] = worker.reason[REASON_end_root] = 700;
	counted.reason[REASON_cut_depth] = worker.reason[REASON_cut_depth] = 190;
	counted.reason[REASON_cut_no_room] = worker.reason[REASON_cut_no_room] = 60;
	counted.reason[REASON_cut_not_a_call] = worker.reason[REASON_cut_not_a_call] = 50;
	summary_make(&counted, &worker, false, &sum);
	assert_null(strstr(print(&sum, true), "no rules: lie"));
	assert_non_null(strstr(print(&sum, true), "no rules: new 10.0 %"));
}

static void test_summary__limits(void **state)
{
	struct counted counted = {.events_lost = 5, .processes_lost = 6};
	struct message_summary worker = {0};
	struct summary sum;

	(void)state;
	worker.limit[LIMIT_events] = 99; /* not the worker's to tell */
	worker.limit[LIMIT_tables] = 7;
	summary_make(&counted, &worker, false, &sum);
	assert_non_null(strstr(print(&sum, false), "\n  note events: 5  ("));
	assert_non_null(strstr(print(&sum, false), "\n  note generations: 6  ("));
	assert_non_null(strstr(print(&sum, false), "\n  note tables: 7  ("));
	assert_null(strstr(print(&sum, false), "note slots"));
}

static void test_summary__progress(void **state)
{
	struct counted counted = {.elapsed = 2100000000, .samples = 100, .seen = 8, .complete = 7};
	char line[PROGRESS_BYTES];

	(void)state;
	counted.reason[REASON_end_root] = 90;
	counted.reason[REASON_cut_exec] = 7;
	counted.reason[REASON_lost_ring_full] = 3;
	summary_progress(&counted, line);
	assert_string_equal(line, "2 s: 100 samples, 3 lost, 87 % complete");
	counted.seen = counted.complete = 0; /* the worker has not reported yet */
	summary_progress(&counted, line);
	assert_string_equal(line, "2 s: 100 samples, 3 lost");
	memset(&counted, 0xff, sizeof(counted));
	summary_progress(&counted, line);
	assert_true(strlen(line) < PROGRESS_BYTES - 1);
}

/* An earlier worker's samples are lost with it. This worker can report its own samples only. */
static void test_summary__restart(void **state)
{
	struct counted counted = {.samples = 100, .restarted = 35};
	struct message_summary worker = {0};
	struct summary sum;

	(void)state;
	counted.reason[REASON_end_root] = 50;
	counted.reason[REASON_cut_exec] = 5;
	counted.reason[REASON_lost_ring_full] = 10;
	worker.reason[REASON_end_root] = 80;
	worker.reason[REASON_cut_exec] = 4;
	summary_make(&counted, &worker, false, &sum);
	assert_int_equal(sum.complete, 50);
	assert_int_equal(sum.cut, 4);
	assert_int_equal(sum.lost, 46);
	assert_int_equal(sum.restarted, 35);
	assert_int_equal(sum.discarded, 1);
	assert_non_null(strstr(print(&sum, false), "\n  lost lost_restart: 35  ("));
	assert_non_null(strstr(print(&sum, false), "\n  lost lost_unread: 1  ("));
	assert_non_null(strstr(print(&sum, false), "\n  lost lost_ring_full: 10  ("));
}

/*
 * The worker reports the samples that --comm left out, up to its own samples, if --comm was given.
 */
static void test_summary__filtered(void **state)
{
	struct counted counted = {.expected = 1010, .samples = 100, .filtered = 900};
	struct message_summary worker = {.filtered = 60};
	struct summary sum;

	(void)state;
	counted.reason[REASON_end_root] = 90;
	counted.reason[REASON_lost_ring_full] = 10;
	worker.reason[REASON_end_root] = 25;
	summary_make(&counted, &worker, true, &sum);
	assert_int_equal(sum.taken, 40);
	assert_int_equal(sum.filtered, 960);
	assert_int_equal(sum.complete, 25);
	assert_int_equal(sum.lost, 15);
	assert_int_equal(sum.discarded, 5);
	assert_non_null(strstr(print(&sum, false), "samples: expected 1010, taken 40, complete 25 "
						   "(62.50 %), cut 0, without names 0, lost 15, "
						   "filtered 960\n"));
	worker.filtered = ~0ull;
	summary_make(&counted, &worker, true, &sum);
	assert_int_equal(sum.taken, 35);
	assert_int_equal(sum.filtered, 965);
	assert_int_equal(sum.lost, 10);
	summary_make(&counted, &worker, false, &sum);
	assert_int_equal(sum.taken, 100);
	assert_int_equal(sum.filtered, 900);
	assert_int_equal(sum.lost, 75);
	counted.filtered = 0;
	summary_make(&counted, &worker, false, &sum);
	assert_null(strstr(print(&sum, false), "filtered"));
}

static void test_summary__share_is_rounded_down(void **state)
{
	struct summary sum = {.taken = 1000000, .complete = 999999, .cut = 1};

	(void)state;
	assert_non_null(strstr(print(&sum, false), "(99.99 %)"));
	sum.complete++;
	assert_non_null(strstr(print(&sum, false), "(100.00 %)"));
	sum = (struct summary){0};
	assert_non_null(strstr(print(&sum, false), "(0.00 %)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary__classes),
		cmocka_unit_test(test_summary__guesses_are_apart),
		cmocka_unit_test(test_summary__proven_guesses_are_complete),
		cmocka_unit_test(test_summary__nothing_is_expected_of_what_is_counted),
		cmocka_unit_test(test_summary__every_sample_has_one_fate),
		cmocka_unit_test(test_summary__runtimes),
		cmocka_unit_test(test_summary__waited),
		cmocka_unit_test(test_summary__objects_without_rules),
		cmocka_unit_test(test_summary__objects_without_rules_in_whole_stacks),
		cmocka_unit_test(test_summary__limits),
		cmocka_unit_test(test_summary__progress),
		cmocka_unit_test(test_summary__restart),
		cmocka_unit_test(test_summary__filtered),
		cmocka_unit_test(test_summary__share_is_rounded_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

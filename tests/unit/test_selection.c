/* SPDX-License-Identifier: Apache-2.0 */
/* The command line's choice of samples: events and filters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/abi.h"
#include "helper/options/events.h"
#include "tests/unit/options_rig.h"

/* Reads -e and, unless NULL, -F. Returns the result. */
static int sampling_of(const char *event, const char *frequency, struct message_sampling *ret)
{
	char text[64], rate[16];
	char *argv[] = {(char[]){"keyhole"},
			(char[]){"record"},
			(char[]){"-e"},
			text,
			(char[]){"-F"},
			rate,
			NULL};
	struct options options;
	int r;

	snprintf(text, sizeof(text), "%s", event);
	snprintf(rate, sizeof(rate), "%s", frequency ? frequency : "");
	if (!frequency)
		argv[4] = NULL;
	r = rig_parse(frequency ? 6 : 4, argv, &options);
	*ret = options.given.sampling;
	return r;
}

static void assert_sampling(const char *event, const char *rate, uint32_t row, uint64_t period,
			    uint32_t frequency)
{
	struct message_sampling sampling;

	assert_int_equal(sampling_of(event, rate, &sampling), 0);
	assert_int_equal(sampling.event, row);
	assert_int_equal(sampling.period, period);
	assert_int_equal(sampling.frequency, frequency);
}

enum { /* rows, as messages have them */
	CYCLES = 1,
	CPU_CLOCK,
	TASK_CLOCK,
	INSTRUCTIONS,
	PAGE_FAULTS = 9,
	CONTEXT_SWITCHES = 12,
	CPU_MIGRATIONS
};

static void test_selection__events(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-a"), 0);
	assert_int_equal(options.given.sampling.event, 0);
	assert_int_equal(options.given.sampling.period, 0);
	assert_sampling("cycles", NULL, CYCLES, 0, 99);
	assert_sampling("cpu-cycles", "1000", CYCLES, 0, 1000);
	assert_sampling("cpu-clock", "7", CPU_CLOCK, 0, 7);
	assert_sampling("task-clock", NULL, TASK_CLOCK, 0, 99);
	assert_sampling("instructions", NULL, INSTRUCTIONS, 10000019, EVENTS_COUNTED_HZ);
	assert_sampling("cycles:2000000", NULL, CYCLES, 2000000, EVENTS_COUNTED_HZ);
	assert_sampling("page-faults", NULL, PAGE_FAULTS, 1, EVENTS_COUNTED_HZ);
	assert_sampling("faults:1000000000000", NULL, PAGE_FAULTS, EVENTS_PERIOD_MAX,
			EVENTS_COUNTED_HZ);
	assert_sampling("cs:12", NULL, CONTEXT_SWITCHES, 12, EVENTS_COUNTED_HZ);
	assert_sampling("migrations", NULL, CPU_MIGRATIONS, 1, EVENTS_COUNTED_HZ);
}

/* The most samples a second are never fewer than a clock makes. */
static void test_selection__clocks_with_a_period(void **state)
{
	(void)state;
	assert_sampling("cpu-clock:100000", NULL, CPU_CLOCK, 100000, OPTIONS_FREQUENCY_MAX);
	assert_sampling("cpu-clock:1000000", NULL, CPU_CLOCK, 1000000, 1000);
	assert_sampling("cpu-clock:700000000", NULL, CPU_CLOCK, 700000000, 2);
	assert_sampling("task-clock:1000000000000", NULL, TASK_CLOCK, 1000000000000, 1);
}

static void test_selection__events_that_are_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		":",
		"cpu",
		"Cycles",
		"cpu-clock ",
		"cycles:",
		"cycles:0",
		"cs:0",
		"cs:-1",
		"cs:1x",
		"cs: 1",
		"cs:1:1",
		"cpu-clock:99999",
		"r00c0",
		"cycles:999999",
		"instructions:1",
		"cs:1000000000001",
		"cs:18446744073709551617",
		"cs:99999999999999999999999",
	};
	struct message_sampling sampling;
	struct options options;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(sampling_of(wrong[i], NULL, &sampling), EXIT_USAGE);
	assert_int_equal(sampling_of("cs", "99", &sampling), EXIT_USAGE);
	assert_int_equal(sampling_of("cs:7", "99", &sampling), EXIT_USAGE);
	assert_int_equal(sampling_of("cpu-clock:1000000", "99", &sampling), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-e", "cs", "-e", "cs"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "-e"), EXIT_USAGE);
}

static struct sample_filter filter_of(const struct options *options)
{
	struct sample_filter filter;

	memcpy(&filter, options->given.filter, sizeof(filter));
	return filter;
}

static void test_selection__nothing_is_left_out_at_first(void **state)
{
	struct sample_filter filter;
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "--kernel", "--user"), 0);
	filter = filter_of(&options);
	for (size_t i = 0; i < FILTER_PLACES; i++) {
		assert_int_equal(filter.uid[i], FILTER_UID_NONE);
		assert_int_equal(filter.excluded_cgroup[i], 0);
	}
	assert_int_equal(filter.hides, 0);
	assert_int_equal(filter.excludes, 0);
	assert_null(options.comm);
}

static void test_selection__users(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "--uid", "1000,root", "--uid=4294967294"), 0);
	assert_int_equal(filter_of(&options).uid[0], 1000);
	assert_int_equal(filter_of(&options).uid[1], 0);
	assert_int_equal(filter_of(&options).uid[2], 4294967294);
	assert_int_equal(filter_of(&options).uid[3], FILTER_UID_NONE);
	assert_int_equal(PARSE(&options, "--uid", "1,2,3,4,5,6"), 0);
	assert_int_equal(PARSE(&options, "--uid", "1,2,3,4,5,6,7"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--uid", "4294967295"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--uid", "-1"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--uid", "1x"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--uid", "99999999999999999999999"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--uid", "no-such-user"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--uid", "1,,2"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--uid", "1,"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--uid", ""), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--uid"), EXIT_USAGE);
}

static void test_selection__excluded_processes(void **state)
{
	char own[16], list[2 * OPTIONS_PIDS_MAX + 1];
	char *argv[] = {(char[]){"keyhole"},
			(char[]){"record"},
			(char[]){"-p7"},
			(char[]){"--exclude-pid"},
			list,
			NULL};
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-p", "7", "--exclude-pid", "1", "--exclude-pid=1"), 0);
	assert_int_equal(options.given.pid_count, 1);
	assert_int_equal(options.given.pids[0], 7);
	assert_int_equal(options.given.excluded_count, 2);
	assert_int_equal(options.given.excluded_pids[0], 1);
	assert_int_equal(options.given.excluded_pids[1], 1);
	assert_int_equal(filter_of(&options).excludes, DENY_BIT(DENY_PROCESS));
	assert_int_equal(PARSE(&options, "-p", "1", "-p", "2", "--exclude-pid", "1"), 0);
	assert_int_equal(PARSE(&options, "-p", "1", "-p", "1", "--exclude-pid", "1"), EXIT_USAGE);
	snprintf(own, sizeof(own), "%d", getpid());
	assert_int_equal(
		rig_parse(5, (char *[]){argv[0], argv[1], argv[2], argv[3], own, NULL}, &options),
		0);
	for (size_t i = 0; i < OPTIONS_PIDS_MAX; i++) /* one more than fits beside -p */
		memcpy(list + 2 * i, "1,", 2);
	list[2 * OPTIONS_PIDS_MAX - 3] = '\0';
	assert_int_equal(rig_parse(5, argv, &options), 0);
	list[2 * OPTIONS_PIDS_MAX - 3] = ',';
	list[2 * OPTIONS_PIDS_MAX - 1] = '\0';
	assert_int_equal(rig_parse(5, argv, &options), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--exclude-pid", "0"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--exclude-pid", "4194304"), EXIT_USAGE); /* no pid */
	assert_int_equal(PARSE(&options, "--exclude-pid", "1 1"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--exclude-pid", "x"), EXIT_USAGE);
}

static void test_selection__excluded_cgroups(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "--exclude-cgroup", "/"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--exclude-cgroup", "/proc/self"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--exclude-cgroup", "/nonexistent"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--exclude-cgroup", ""), EXIT_USAGE);
}

static void test_selection__parts_of_the_stack(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "--no-kernel"), 0);
	assert_int_equal(filter_of(&options).hides, FILTER_NO_KERNEL);
	assert_int_equal(PARSE(&options, "--no-user"), 0);
	assert_int_equal(filter_of(&options).hides, FILTER_NO_USER);
	assert_int_equal(PARSE(&options, "--no-kernel", "--no-user"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--no-kernel", "--no-user", "--kernel"), 0);
	assert_int_equal(filter_of(&options).hides, FILTER_NO_USER);
}

static void test_selection__names(void **state)
{
	char longest[OPTIONS_COMM_BYTES + 1] = "";
	char *argv[] = {(char[]){"keyhole"}, (char[]){"record"}, (char[]){"--comm"}, longest, NULL};
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "--comm", "^(nginx|php-fpm.*)$"), 0);
	assert_string_equal(options.comm, "^(nginx|php-fpm.*)$");
	assert_int_equal(options.given.flags, OPTIONS_COMM);
	memset(longest, 'x', OPTIONS_COMM_BYTES - 1);
	assert_int_equal(rig_parse(4, argv, &options), 0);
	longest[OPTIONS_COMM_BYTES - 1] = 'x';
	assert_int_equal(rig_parse(4, argv, &options), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--comm", ""), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--comm", "("), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--comm", "["), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--comm", "\\"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--comm", "((a{255}){255}){255}"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--comm", "(a*)\\1"), EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--comm", "a\\\\1\\."), 0);
	/* 1.6 s and 865 MiB; more memory than there is; 1.2 s */
	assert_int_equal(PARSE(&options, "--comm",
			       "((((((((((((((((((((a)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+"),
			 EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--comm", "a+?+?+*++++++++++++++++++++++++++++++++++++"),
			 EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--comm",
			       "((((((([[:alpha:]]|[[:digit:]]|.*|a*|b*|c*|d*)+)+)+)+)+)+)x"),
			 EXIT_USAGE);
	assert_int_equal(PARSE(&options, "--comm", "(((a+)+)+)+b+c+d+e+f+"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_selection__events),
		cmocka_unit_test(test_selection__clocks_with_a_period),
		cmocka_unit_test(test_selection__events_that_are_refused),
		cmocka_unit_test(test_selection__nothing_is_left_out_at_first),
		cmocka_unit_test(test_selection__users),
		cmocka_unit_test(test_selection__excluded_processes),
		cmocka_unit_test(test_selection__excluded_cgroups),
		cmocka_unit_test(test_selection__parts_of_the_stack),
		cmocka_unit_test(test_selection__names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

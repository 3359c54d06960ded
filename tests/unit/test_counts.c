/* SPDX-License-Identifier: Apache-2.0 */
/* The counts of keyhole-output. Files stand in for the map and for the readings. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper/output/counts.h"
#include "helper/output/denials.h"

#define CPUS 3

static u64 denied[DENY_KEYS_MAX + 1]; /* samples by rule, for the next counts */

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("counts", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static int runtime_of(uint64_t nanoseconds)
{
	const struct task_runtime runtime = {nanoseconds, 7};

	return file_of(&runtime, sizeof(runtime));
}

static int text_of(const char *text)
{
	return file_of(text, strlen(text));
}

/* Returns the counters, which the caller may change. */
static struct counters *give(struct counts *counts, const struct message_counts *source, int before,
			     int after)
{
	static const struct counters zero[CPUS];
	int map = file_of(zero, sizeof(zero));
	void *rows = mmap(NULL, sizeof(zero), PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);

	assert_true(rows != MAP_FAILED);
	*counts = (struct counts){0};
	assert_int_equal(counts_take(counts, source, map), 0);
	assert_int_equal(counts_take(counts, source, before), 0);
	assert_int_equal(counts_take(counts, source, after), 0);
	assert_int_equal(counts_take(counts, source, file_of(denied, sizeof(denied))), 0);
	return rows;
}

static void test_counts__of_all_cpus(void **state)
{
	const struct message_counts source = {.cpus = CPUS, .sampling.frequency = 99};
	struct counted counted;
	struct counters *rows;
	struct counts counts;

	(void)state;
	rows = give(&counts, &source, runtime_of(5500000000), runtime_of(9500000000));
	assert_int_equal(counts_begin(&counts), 0);
	assert_int_equal(counts_sum(&counts).samples, 0);
	for (unsigned int i = 0; i < CPUS; i++) {
		rows[i].samples = 100 + i;
		rows[i].reason[REASON_end_root] = 90;
		rows[i].reason[REASON_lost_nested] = 10 + i;
		rows[i].events_lost = 1;
		rows[i].processes_lost = 2;
	}
	counted = counts_sum(&counts);
	assert_true(counted.elapsed > 0);
	assert_int_equal(counted.samples, 303);
	assert_int_equal(counted.reason[REASON_end_root], 270);
	assert_int_equal(counts_end(&counts, &counted), 0);
	assert_int_equal(counted.expected, 4 * 99);
	assert_int_equal(counted.used, 4000000000);
	assert_int_equal(counted.threads, 7);
	assert_int_equal(counted.samples, 303);
	assert_int_equal(counted.reason[REASON_lost_nested], 33);
	assert_int_equal(counted.restarted, 0);
	assert_int_equal(counted.events_lost, 3);
	assert_int_equal(counted.processes_lost, 6);
}

/* An ended worker's records are lost. Records that were lost before count once. */
static void test_counts__another_worker(void **state)
{
	const struct message_counts source = {.cpus = CPUS, .sampling.frequency = 99};
	struct counted counted;
	struct counters *rows;
	struct counts counts;

	(void)state;
	rows = give(&counts, &source, runtime_of(0), runtime_of(0));
	assert_int_equal(counts_begin(&counts), 0);
	rows[1].reason[REASON_end_root] = 40;
	rows[1].reason[REASON_cut_exec] = 2;
	rows[1].reason[REASON_lost_ring_full] = 5;
	rows[1].samples = 47;
	counts_replace(&counts);
	rows[2].reason[REASON_end_root] = 10;
	rows[2].samples = 10;
	assert_int_equal(counts_end(&counts, &counted), 0);
	assert_int_equal(counted.samples, 57);
	assert_int_equal(counted.restarted, 42);
	assert_int_equal(counted.reason[REASON_end_root], 10);
	assert_int_equal(counted.reason[REASON_cut_exec], 0);
	assert_int_equal(counted.reason[REASON_lost_ring_full], 5);
	assert_int_equal(counted.expected, 0);
}

static uint64_t expected_of(struct message_sampling sampling, bool counted)
{
	const struct message_counts source = {.sampling = sampling, .cpus = CPUS};
	struct counted result;
	struct counts counts;

	give(&counts, &source, runtime_of(1000000000), runtime_of(3100000000));
	assert_int_equal(counts_begin(&counts), 0);
	assert_int_equal(counts_end(&counts, &result), 0);
	assert_int_equal(result.counted, counted);
	return result.expected;
}

/* CPU time tells how many samples to expect from a clock, and nothing about counted events. */
static void test_counts__of_events(void **state)
{
	enum {
		CYCLES = 1,
		CPU_CLOCK,
		PAGE_FAULTS = 9
	}; /* rows of ipc/events.def */

	(void)state;
	assert_int_equal(expected_of((struct message_sampling){0, CPU_CLOCK, 100}, false), 210);
	assert_int_equal(expected_of((struct message_sampling){700000000, CPU_CLOCK, 2}, false), 3);
	assert_int_equal(expected_of((struct message_sampling){0, CYCLES, 100}, false), 210);
	assert_int_equal(expected_of((struct message_sampling){1000000, CYCLES, 9}, true), 0);
	assert_int_equal(expected_of((struct message_sampling){1, PAGE_FAULTS, 9}, true), 0);
	assert_int_equal(expected_of((struct message_sampling){1, UINT32_MAX, 9}, false),
			 2100000000);
}

static void test_counts__of_a_cgroup(void **state)
{
	const struct message_counts source = {
		.cpus = CPUS, .sampling.frequency = 10000, .cgroup = 1};
	struct counted counted;
	struct counts counts;

	(void)state;
	give(&counts, &source, text_of("usage_usec 1000\nuser_usec 7\n"),
	     text_of("usage_usec 604800001000\nuser_usec 7\n"));
	assert_int_equal(counts_begin(&counts), 0);
	assert_int_equal(counts_end(&counts, &counted), 0);
	assert_int_equal(counted.expected, 6048000000); /* a week */
}

/* A denied process is in the cgroup too. Filtered samples are expected. */
static void test_counts__of_a_cgroup_with_others_in_it(void **state)
{
	const struct message_counts source = {.cpus = CPUS, .sampling.frequency = 100, .cgroup = 1};
	struct counted counted;
	struct counters *rows;
	struct counts counts;

	(void)state;
	rows = give(&counts, &source, text_of("usage_usec 0\n"), text_of("usage_usec 10000000\n"));
	assert_int_equal(counts_begin(&counts), 0);
	rows[0].denied = 100;
	rows[2].denied = 200;
	rows[1].filtered = 500;
	rows[1].samples = 201;
	assert_int_equal(counts_end(&counts, &counted), 0);
	assert_int_equal(counted.expected, 700);
	assert_int_equal(counted.used, 7000000000);
	assert_int_equal(counted.threads, 0);
	assert_int_equal(counted.filtered, 500);
	assert_int_equal(counted.samples, 201);
	rows = give(&counts, &source, text_of("usage_usec 0\n"), text_of("usage_usec 10000\n"));
	assert_int_equal(counts_begin(&counts), 0);
	rows[0].denied = 5;
	assert_int_equal(counts_end(&counts, &counted), 0);
	assert_int_equal(counted.expected, 0);
	assert_int_equal(counted.used, 0);
	give(&counts, &source, text_of("usage_usec 0\n"), text_of("usage_usec 9\n"));
	assert_int_equal(counts_begin(&counts), 0);
	assert_int_equal(counts_end(&counts, &counted), 0);
	assert_int_equal(counted.expected, 0);
	assert_int_equal(counted.used, 9000);
}

/* The readings hold the CPU time of processes that were denied between them, and of no others. */
static void test_counts__of_processes_denied_meanwhile(void **state)
{
	const struct message_counts source = {.cpus = CPUS, .sampling.frequency = 100};
	struct counted counted;
	struct counters *rows;
	struct counts counts;

	(void)state;
	rows = give(&counts, &source, runtime_of(0), runtime_of(10000000000));
	assert_int_equal(counts_begin(&counts), 0);
	rows[0].denied = 900;
	rows[0].denied_counted = 100;
	rows[1].denied_counted = rows[1].denied = 200;
	assert_int_equal(counts_end(&counts, &counted), 0);
	assert_int_equal(counted.denied, 1100);
	assert_int_equal(counted.expected, 700);
	rows = give(&counts, &source, runtime_of(0), runtime_of(10000000));
	assert_int_equal(counts_begin(&counts), 0);
	rows[0].denied_counted = rows[0].denied = 5;
	assert_int_equal(counts_end(&counts, &counted), 0);
	assert_int_equal(counted.expected, 0);
}

static void test_counts__what_is_missing_or_wrong(void **state)
{
	const struct message_counts source = {.cpus = CPUS, .sampling.frequency = 99};
	const struct message_counts many = {.cpus = ABI_MAX_CPUS + 1};
	struct counted counted;
	struct counts counts = {0};

	(void)state;
	assert_int_equal(counts_end(&counts, &counted), -EPROTO);
	assert_int_equal(counts_begin(&counts), -EPROTO);
	assert_int_equal(counts_sum(&counts).samples, 0);
	assert_int_equal(counts_take(&counts, &many, text_of("")), -EPROTO);
	give(&counts, &source, runtime_of(0), text_of("short"));
	assert_int_equal(counts_take(&counts, &source, text_of("")), -EPROTO);
	assert_int_equal(counts_begin(&counts), 0);
	assert_int_equal(counts_begin(&counts), -EPROTO);
	assert_int_equal(counts_end(&counts, &counted), -EBADMSG);
	assert_int_equal(counts_end(&counts, &counted), -EBADF); /* it is read once */
}

static int parse(const char *text, uint64_t *ret_nanoseconds)
{
	*ret_nanoseconds = 0;
	return counts_parse_usage(text, strlen(text), ret_nanoseconds);
}

static void test_counts__usage(void **state)
{
	static const char *const bad[] = {
		"",
		"usage_usec\n",
		"usage_usec \n",
		"usage_usec 1x\n",
		"user_usec 1",
		"usage_usec -1\n",
		"nr_usage_usec 1\n",
		"usage_usec  1\n",
		"usage_usec",
		"Xusage_usec 12345",
		"usage_usec 0x10\nx 1\n",
		"usage_usec 18446744073709552\n",
		"usage_usec 99999999999999999999999\n",
	};
	uint64_t nanoseconds;

	(void)state;
	assert_int_equal(parse("usage_usec 12\nuser_usec 3\n", &nanoseconds), 0);
	assert_int_equal(nanoseconds, 12000);
	assert_int_equal(parse("user_usec 3\nusage_usec 0", &nanoseconds), 0);
	assert_int_equal(nanoseconds, 0);
	assert_int_equal(parse("usage_usec 18446744073709551\n", &nanoseconds), 0);
	assert_int_equal(nanoseconds, 18446744073709551000ull);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(parse(bad[i], &nanoseconds), -EBADMSG);
}

#define OTHERWISE "  note denied by: 1000  (--exclude-*, or in a process that had ended)\n"

/* Returns what is printed about three rules, of which the second has hid so many samples. */
static char *print_denials(uint64_t second, const char *text)
{
	const struct message_counts source = {.cpus = CPUS, .sampling.frequency = 99, .rules = 3};
	struct policy_rule rules[3] = {{{0}, "deny uid 7"}, {{0}, ""}, {{0}, "deny comm a"}};
	struct counts counts;
	size_t size;
	char *printed;
	FILE *stream = open_memstream(&printed, &size);

	memset(rules[1].text, 'x', sizeof(rules[1].text));
	strncpy(rules[1].text, text, sizeof(rules[1].text));
	denied[0] = 1000;
	denied[1] = 4;
	denied[2] = second;
	give(&counts, &source, runtime_of(0), runtime_of(0));
	assert_int_equal(counts_take(&counts, &source, file_of(rules, sizeof(rules))), 0);
	assert_int_equal(counts_begin(&counts), 0);
	denials_print(&counts, stream);
	assert_int_equal(fclose(stream), 0);
	memset(denied, 0, sizeof(denied));
	return printed;
}

static void test_counts__which_rule_hid_most(void **state)
{
	char *printed = print_denials(470, "deny executable /usr/bin/gpg-agent");

	(void)state;
	assert_string_equal(printed, "  note denied by: 470  (deny executable /usr/bin/gpg-agent)\n"
				     "  note denied by: 4  (deny uid 7)\n" OTHERWISE);
	free(printed);
	printed = print_denials(1, "x");
	assert_string_equal(printed, "  note denied by: 4  (deny uid 7)\n"
				     "  note denied by: 1  (x)\n" OTHERWISE);
	free(printed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts__of_all_cpus),
		cmocka_unit_test(test_counts__another_worker),
		cmocka_unit_test(test_counts__of_events),
		cmocka_unit_test(test_counts__of_a_cgroup),
		cmocka_unit_test(test_counts__of_a_cgroup_with_others_in_it),
		cmocka_unit_test(test_counts__of_processes_denied_meanwhile),
		cmocka_unit_test(test_counts__what_is_missing_or_wrong),
		cmocka_unit_test(test_counts__which_rule_hid_most),
		cmocka_unit_test(test_counts__usage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

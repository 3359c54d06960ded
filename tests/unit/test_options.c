/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>

#include <cmocka.h>

#include "loader/options.h"
#include "policy/policy.h"

#define PARSE(options, ...)                                                          \
	({                                                                           \
		static const char *const argv_[] = {"record", __VA_ARGS__, NULL};    \
		static char *copy_[sizeof(argv_) / sizeof(argv_[0])];                \
                                                                                     \
		memcpy(copy_, argv_, sizeof(argv_));                                 \
		options_parse(sizeof(argv_) / sizeof(argv_[0]) - 1, copy_, options); \
	})

static void test_options__defaults(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-v"), 0);
	assert_true(!options.all && !options.pid_count && !options.cgroup && !options.command);
	assert_int_equal(options.frequency, 99);
	assert_int_equal(options.duration, 0);
	assert_int_equal(options.format, FORMAT_PPROF);
	assert_true(options.verbose);
	assert_false(options.force);
	assert_memory_equal(options.output, "keyhole-2", 9);
	assert_string_equal(strchr(options.output, '.'), ".pb.gz");
}

static void test_options__everything(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-p", "12", "--pid=34", "-F10000", "-d", "1.5", "-o",
			       "x.folded", "--force", "--by-thread"),
			 0);
	assert_int_equal(options.pid_count, 2);
	assert_int_equal(options.pids[0], 12);
	assert_int_equal(options.pids[1], 34);
	assert_int_equal(options.frequency, 10000);
	assert_int_equal(options.duration, 1500000000);
	assert_int_equal(options.format, FORMAT_FOLDED);
	assert_true(options.force && options.by_thread);
}

static void test_options__command_keeps_its_options(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-F", "20", "--", "ls", "-a", "--"), 0);
	assert_string_equal(options.command[0], "ls");
	assert_string_equal(options.command[1], "-a");
	assert_string_equal(options.command[2], "--");
	assert_null(options.command[3]);
	assert_int_equal(PARSE(&options, "ls"), -EINVAL);
	assert_int_equal(PARSE(&options, "-v", "--"), -EINVAL);
}

static void test_options__targets_exclude_each_other(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-a", "-p", "1"), -EINVAL);
	assert_int_equal(PARSE(&options, "-p", "1", "--cgroup", "/x"), -EINVAL);
	assert_int_equal(PARSE(&options, "-p", "1", "--", "ls"), -EINVAL);
	assert_int_equal(PARSE(&options, "-a", "--", "ls"), -EINVAL);
	assert_int_equal(PARSE(&options, "--cgroup", "/x", "--cgroup", "/y"), -EINVAL);
	assert_int_equal(PARSE(&options, "-a"), 0);
	assert_true(options.all);
}

static void test_options__more_processes_than_room(void **state)
{
	char record[] = "record", pid[] = "-p7";
	char *argv[2 + OPTIONS_PIDS_MAX + 1] = {record};
	struct options options;

	(void)state;
	for (int i = 1; i <= OPTIONS_PIDS_MAX + 1; i++)
		argv[i] = pid;
	assert_int_equal(options_parse(OPTIONS_PIDS_MAX + 1, argv, &options), 0);
	assert_int_equal(options_parse(OPTIONS_PIDS_MAX + 2, argv, &options), -EINVAL);
}

static void test_options__numbers_out_of_range(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-F", "0"), -EINVAL);
	assert_int_equal(PARSE(&options, "-F", "10001"), -EINVAL);
	assert_int_equal(PARSE(&options, "-F", "99x"), -EINVAL);
	assert_int_equal(PARSE(&options, "-F", "-1"), -EINVAL);
	assert_int_equal(PARSE(&options, "-F", ""), -EINVAL);
	assert_int_equal(PARSE(&options, "-F"), -EINVAL);
	assert_int_equal(PARSE(&options, "-d", "nan"), -EINVAL);
	assert_int_equal(PARSE(&options, "-d", "0"), -EINVAL);
	assert_int_equal(PARSE(&options, "-d", "1e30"), -EINVAL);
	assert_int_equal(PARSE(&options, "-p", "0"), -EINVAL);
	assert_int_equal(PARSE(&options, "-p", "99999999999999999999"), -EINVAL);
	assert_int_equal(PARSE(&options, "--nonsense"), -EINVAL);
}

static void test_options__required_layers(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-a"), 0);
	assert_int_equal(options.require, 0);
	assert_int_equal(PARSE(&options, "--require=landlock,pid", "--require", "seccomp"), 0);
	assert_int_equal(options.require,
			 LAYER_BIT(landlock) | LAYER_BIT(pid) | LAYER_BIT(seccomp));
	assert_int_equal(PARSE(&options, "--require", ""), -EINVAL);
	assert_int_equal(PARSE(&options, "--require", ","), -EINVAL);
	assert_int_equal(PARSE(&options, "--require", "landlock,"), -EINVAL);
	assert_int_equal(PARSE(&options, "--require", "land"), -EINVAL);
	assert_int_equal(PARSE(&options, "--require", "landlock pid"), -EINVAL);
	assert_int_equal(PARSE(&options, "--require"), -EINVAL);
}

static void test_options__format_from_suffix(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(PARSE(&options, "-o", "a.pb.gz"), 0);
	assert_int_equal(options.format, FORMAT_PPROF);
	assert_int_equal(PARSE(&options, "-f", "folded"), 0);
	assert_string_equal(strchr(options.output, '.'), ".folded");
	assert_int_equal(PARSE(&options, "-o", "a.folded", "-f", "pprof"), 0);
	assert_int_equal(options.format, FORMAT_PPROF);
	assert_int_equal(PARSE(&options, "-o", "-", "-f", "folded"), 0);
	assert_string_equal(options.output, "-");
	assert_int_equal(PARSE(&options, "-o", "-"), -EINVAL);
	assert_int_equal(PARSE(&options, "-o", "a.svg"), -EINVAL);
	assert_int_equal(PARSE(&options, "-o", "a.txt"), -EINVAL);
	assert_int_equal(PARSE(&options, "-o", ""), -EINVAL);
	assert_int_equal(PARSE(&options, "-o", ".folded"), -EINVAL);
	assert_int_equal(PARSE(&options, "-f", "svg"), -EINVAL);
}

static void test_options__help_names_each_option(void **state)
{
	static const char *const names[] = {"--all",	"--pid",       "--cgroup", "--frequency",
					    "--output", "--by-thread", "--force",  "-- CMD"};
	char text[4096] = "";
	FILE *stream = fmemopen(text, sizeof(text), "w");
	struct options options;

	(void)state;
	options_usage(stream);
	fclose(stream);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_non_null(strstr(text, names[i]));
	assert_int_equal(PARSE(&options, "--help", "ls"), 0);
	assert_true(options.help);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options__defaults),
		cmocka_unit_test(test_options__everything),
		cmocka_unit_test(test_options__command_keeps_its_options),
		cmocka_unit_test(test_options__targets_exclude_each_other),
		cmocka_unit_test(test_options__more_processes_than_room),
		cmocka_unit_test(test_options__numbers_out_of_range),
		cmocka_unit_test(test_options__required_layers),
		cmocka_unit_test(test_options__format_from_suffix),
		cmocka_unit_test(test_options__help_names_each_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

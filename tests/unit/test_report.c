/* SPDX-License-Identifier: Apache-2.0 */
/* The sums and tables of reports, for the small profile of build_profile.c. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "view/report/filter.h"
#include "view/report/options.h"
#include "view/report/view.h"
#include "tests/unit/build_profile.h"
#include "base/runtimes.h"
#include "profile/format/format.h"

/* ---- options ---- */

static int parse(struct options *options, ...)
{
	char *argv[16] = {(char *)"report"};
	va_list words;
	int argc = 1;

	va_start(words, options);
	while ((argv[argc] = va_arg(words, char *)))
		argc++;
	va_end(words);
	return report_options_parse(argc, argv, options);
}

static void test_report__options(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(parse(&options, "a", NULL), 0);
	assert_string_equal(options.files[0], "a");
	assert_int_equal(options.lines, 20);
	assert_int_equal(options.by, BY_FUNCTION);
	assert_int_equal(parse(&options, "--by", "cgroup", "a", "-n", "0", "--sort=total", NULL),
			 0);
	assert_int_equal(options.by, BY_CGROUP);
	assert_int_equal(options.lines, UINT_MAX);
	assert_true(options.by_total);
	assert_int_equal(parse(&options, "a", "-o", "x.folded", NULL), 0);
	assert_int_equal(options.format, FORMAT_folded);
	assert_int_equal(parse(&options, "a", "-o", "x", "-f", "html", "-f", "folded", NULL), 0);
	assert_int_equal(options.format, FORMAT_folded);
	assert_int_equal(parse(&options, "a", "-o", "x.pb.gz", NULL), 0);
	assert_int_equal(options.format, FORMAT_pprof);
	assert_int_equal(parse(&options, "a", "-o", "-", "-f", "folded", NULL), 0);
	assert_int_equal(parse(&options, "--diff", "a", "b", NULL), 0);
	assert_int_equal(options.file_count, 2);
}

static void test_report__options_that_are_refused(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(parse(&options, NULL), -EINVAL);
	assert_int_equal(parse(&options, "a", "b", NULL), -EINVAL);
	assert_int_equal(parse(&options, "--diff", "a", NULL), -EINVAL);
	assert_int_equal(parse(&options, "--diff", "-", "-", NULL), -EINVAL);
	assert_int_equal(parse(&options, "a", "-o", ".folded", NULL), -EINVAL);
	assert_int_equal(parse(&options, "a", "-o", "x", NULL), -EINVAL);
	assert_int_equal(parse(&options, "a", "--tree", "--min", "nan", NULL), -EINVAL);
	assert_int_equal(parse(&options, "a", "--tree", "--min", "2", NULL), 0);
	assert_int_equal(parse(&options, "a", "--min", "2", NULL), -EINVAL);
	assert_int_equal(parse(&options, "a", "--pid", "99999999999", NULL), -EINVAL);
	assert_int_equal(parse(&options, "a", "--tree", "--callers", "x", NULL), -EINVAL);
}

static void test_report__options_that_would_do_nothing_are_refused(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(parse(&options, "a", "--tree", "-n", "5", NULL), -EINVAL);
	assert_int_equal(parse(&options, "a", "--tree", "--sort", "self", NULL), -EINVAL);
	assert_int_equal(parse(&options, "a", "--callers", "x", "--sort", "self", NULL), -EINVAL);
	assert_int_equal(parse(&options, "a", "--callees", "x", "-n", "5", NULL), 0);
	assert_int_equal(parse(&options, "a", "-o", "x.svg", "-n", "5", NULL), -EINVAL);
	assert_int_equal(parse(&options, "a", "-o", "x.svg", "--sort", "total", NULL), -EINVAL);
	assert_int_equal(parse(&options, "a", "--by-thread", NULL), -EINVAL);
	assert_int_equal(parse(&options, "a", "--force", NULL), -EINVAL);
	assert_int_equal(parse(&options, "a", "--sort", "self", "-n", "5", NULL), 0);
	assert_int_equal(parse(&options, "--diff", "a", "b", "--sort", "self", NULL), 0);
}

/* ---- sums ---- */

static const struct tally_row *row_of(const struct tally *tally, const char *name)
{
	for (uint32_t i = 1; i < tally->count; i++)
		if (!strcmp(tally_name(tally, i), name))
			return &tally->rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void assert_row(const struct tally *tally, const char *name, uint64_t self, uint64_t total)
{
	const struct tally_row *row = row_of(tally, name);

	assert_int_equal(row->now.self, self);
	assert_int_equal(row->now.total, total);
}

static void test_report__sums_by_function_and_object(void **state)
{
	struct profile *profile = build_profile();
	struct tally tally;

	(void)state;
	assert_int_equal(tally_make(profile, BY_FUNCTION, &tally), 0);
	assert_int_equal(tally.sum, 10);
	assert_row(&tally, "ns::work", 3, 5);
	assert_row(&tally, "main", 0, 5);
	assert_row(&tally, "read_it", 6, 6);
	assert_row(&tally, "libplain.so.1+0x2234", 1, 1);
	assert_row(&tally, "[cut: no rule]", 0, 1);
	tally_release(&tally);
	assert_int_equal(tally_make(profile, BY_OBJECT, &tally), 0);
	assert_row(&tally, "/usr/bin/app", 3, 5);
	assert_row(&tally, "[kernel]", 6, 6);
	tally_release(&tally);
	profile_free(profile);
}

static void test_report__sums_by_process_thread_reason_cgroup(void **state)
{
	const struct profile_sample unnamed = {.cgroup = 1234, .count = 1};
	struct profile *profile = build_profile();
	struct tally tally;

	(void)state;
	assert_int_equal(tally_make(profile, BY_PROCESS, &tally), 0);
	assert_row(&tally, "app", 5, 5);
	assert_row(&tally, "kthreadd", 4, 4);
	assert_row(&tally, "evil;?[2J", 1, 1);
	assert_int_equal(row_of(&tally, "app")->pid, 100);
	assert_int_equal(row_of(&tally, "app")->pids, 1);
	tally_release(&tally);
	assert_int_equal(tally_make(profile, BY_THREAD, &tally), 0);
	assert_row(&tally, "app/app", 3, 3);
	assert_row(&tally, "app/work;er?", 2, 2);
	tally_release(&tally);
	assert_int_equal(tally_make(profile, BY_REASON, &tally), 0);
	assert_row(&tally, "complete", 9, 9);
	assert_row(&tally, "cut_no_rule", 1, 1);
	tally_release(&tally);
	assert_int_equal(tally_make(profile, BY_CGROUP, &tally), 0);
	assert_row(&tally, "/a?[2J/docker-" BUILD_CONTAINER ".scope", 2, 2);
	assert_row(&tally, "[not known]", 8, 8);
	tally_release(&tally);
	assert_int_equal(profile_forget_samples(profile), 0);
	assert_int_equal(profile_sample_add(profile, &unnamed), 0);
	assert_int_equal(tally_make(profile, BY_CGROUP, &tally), 0);
	assert_row(&tally, "cgroup 1234", 1, 1);
	tally_release(&tally);
	profile_free(profile);
}

static void add_of_kind(struct profile *profile, enum profile_kind kind, const char *name,
			uint32_t stack[static 1])
{
	struct profile_object object = {.kind = kind, .name = profile_string(profile, name)};

	if (kind == KIND_SCRIPT)
		object.runtime = RUNTIME_CPYTHON;
	*stack = profile_location_add(profile, profile_object_add(profile, &object), 1);
}

/* Self is the language of the innermost frame. */
static void test_report__languages(void **state)
{
	struct profile *profile = profile_new();
	struct profile_sample sample = {.count = 3};
	uint32_t stack[5];
	struct tally tally;

	(void)state;
	add_of_kind(profile, KIND_KERNEL, "[kernel]", &stack[0]);
	add_of_kind(profile, KIND_NATIVE, "libc.so.6", &stack[1]);
	add_of_kind(profile, KIND_SCRIPT, "[python]", &stack[2]);
	add_of_kind(profile, KIND_ANON, "[anon]", &stack[3]);
	add_of_kind(profile, KIND_MARKER, "[cut: depth]", &stack[4]);
	sample.stack = profile_stack_add(profile, stack, 5);
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	sample.count = 4;
	sample.stack = profile_stack_add(profile, stack + 2, 1);
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	assert_int_equal(tally_make(profile, BY_LANGUAGE, &tally), 0);
	assert_row(&tally, "kernel", 3, 3);
	assert_row(&tally, "native", 0, 3);
	assert_row(&tally, "Python", 4, 7);
	assert_row(&tally, "made at run time", 0, 3);
	assert_row(&tally, "[unknown]", 0, 3);
	tally_release(&tally);
	profile_free(profile);
}

/* A function that calls itself counts once, and inlined ones are frames. */
static void test_report__recursion_and_inlined_functions(void **state)
{
	struct profile *profile = profile_new();
	struct profile_function function = {.name = profile_string(profile, "outer")};
	struct profile_line inlined = {0};
	struct profile_sample sample = {.count = 7};
	uint32_t id = profile_location_add(profile, 0, 1), stack[] = {id, id, id};
	struct tally tally;

	(void)state;
	profile_location_get(profile, id)->function = profile_function_add(profile, &function);
	function.name = profile_string(profile, "inner");
	inlined.function = profile_function_add(profile, &function);
	profile_location_set_inlined(profile, id, &inlined, 1);
	sample.stack = profile_stack_add(profile, stack, 3);
	profile_sample_add(profile, &sample);
	assert_int_equal(tally_make(profile, BY_FUNCTION, &tally), 0);
	assert_row(&tally, "inner", 7, 7);
	assert_row(&tally, "outer", 0, 7);
	tally_release(&tally);
	profile_free(profile);
}

static void test_report__order(void **state)
{
	struct profile *profile = build_profile();
	struct tally tally;
	uint32_t *order;
	size_t count;

	(void)state;
	assert_int_equal(tally_make(profile, BY_FUNCTION, &tally), 0);
	order = tally_order(&tally, false, NULL, &count);
	assert_int_equal(count, 5);
	assert_string_equal(tally_name(&tally, order[0]), "read_it");
	assert_string_equal(tally_name(&tally, order[1]), "ns::work");
	assert_string_equal(tally_name(&tally, order[3]), "main");
	free(order);
	tally_release(&tally);
	profile_free(profile);
}

/* ---- which samples ---- */

static uint64_t kept(const struct options *options)
{
	struct profile *profile = build_profile();
	struct patterns patterns;
	struct filter filter;
	const uint32_t *stack;
	const char *bad;
	uint64_t sum = 0;
	size_t count;

	assert_int_equal(patterns_init(&patterns, options, &bad), 0);
	filter_init(&filter, options, &patterns);
	count = profile_samples(profile);
	for (size_t i = 0; i < count; i++) {
		const struct profile_sample sample = profile_sample_get(profile, i);

		profile_stack_get(profile, sample.stack, &stack);
		if (filter_keep(profile, &sample, stack[0], &filter))
			sum += sample.count;
	}
	filter_release(&filter);
	patterns_release(&patterns);
	profile_free(profile);
	return sum;
}

static void test_report__filters(void **state)
{
	struct patterns patterns;
	const char *bad;

	(void)state;
	assert_int_equal(kept(&(struct options){0}), 10);
	assert_int_equal(kept(&(struct options){.comm = "^app$"}), 5);
	assert_int_equal(kept(&(struct options){.comm = "a|k"}), 9);
	assert_int_equal(kept(&(struct options){.pid = 200}), 1);
	assert_int_equal(kept(&(struct options){.where = WHERE_KERNEL}), 6);
	assert_int_equal(kept(&(struct options){.where = WHERE_USER}), 4);
	assert_int_equal(kept(&(struct options){.object = "libplain"}), 1);
	assert_int_equal(kept(&(struct options){.object = "app", .comm = "kthreadd"}), 0);
	assert_int_equal(patterns_init(&patterns, &(struct options){.comm = "("}, &bad), -EINVAL);
	assert_string_equal(bad, "(");
	assert_int_equal(
		patterns_init(&patterns, &(struct options){.callers = ".", .callees = "["}, &bad),
		-EINVAL);
	assert_string_equal(bad, "[");
}

/* ---- text ---- */

/* Returns what was written to a file of tmpfile(), and closes the file. The caller frees it. */
static char *close_text(FILE *file)
{
	char *text;
	off_t size;

	fflush(file);
	size = lseek(fileno(file), 0, SEEK_END);
	text = calloc(1, (size_t)size + 1);
	assert_int_equal(pread(fileno(file), text, (size_t)size, 0), size);
	fclose(file);
	return text;
}

static char *view(int (*show)(const struct report *report), const struct options *options,
		  unsigned int width, int expected)
{
	struct report report = {.options = options, .profile = build_profile()};
	const char *bad;
	int r;

	report.info = (struct pprof_info){.times = build_profile_times,
					  .type = "cpu",
					  .unit = "nanoseconds",
					  .is_time = true,
					  .by = build_profile_times.period,
					  .ours = true,
					  .total = 10,
					  .kept = 10};
	report.screen = (struct screen){.out = tmpfile(), .width = width};
	r = patterns_init(&report.patterns, options, &bad);
	if (r == 0)
		r = show(&report);
	assert_int_equal(r, expected);
	patterns_release(&report.patterns);
	profile_free(report.profile);
	return close_text(report.screen.out);
}

static void assert_view(int (*show)(const struct report *report), const struct options *options,
			const char *expected)
{
	char *text = view(show, options, 80, 0);

	assert_string_equal(text, expected);
	free(text);
}

#define HEADER                                                   \
	"a.pb.gz: 100 ms of cpu in 2.0 s, 10 samples of 10 ms\n" \
	"complete 9 (90.00 %), cut 1: cut_no_rule 1\n\n"

static void test_report__table(void **state)
{
	const struct options options = {.files = {"/tmp/a.pb.gz"}, .lines = 2};

	(void)state;
	assert_view(view_table, &options,
		    HEADER "              self             total  function\n"
			   "      60 ms  60.0%      60 ms  60.0%  read_it [kernel]\n"
			   "      30 ms  30.0%      50 ms  50.0%  ns::work (app)\n"
			   "      10 ms  10.0%                    3 more (-n 0: all)\n");
}

/* Stacks are complete or cut for a time, where the file counts times. */
static void test_report__times_of_threads(void **state)
{
	const struct options options = {.files = {"a.pb.gz"}, .lines = 1};
	struct report report = {.options = &options, .profile = build_profile()};
	char *text;

	(void)state;
	profile_samples_scale(report.profile, 0, 100000000);
	report.info = (struct pprof_info){.times = {.period = 1,
						    .duration_ns = 2000000000,
						    .type = "off_cpu",
						    .unit = "nanoseconds",
						    .tick = 1,
						    .walked = true},
					  .type = "off_cpu",
					  .types = "waits, off_cpu",
					  .unit = "nanoseconds",
					  .is_time = true,
					  .by = 1,
					  .ours = true,
					  .total = 1000000000,
					  .kept = 1000000000};
	report.screen = (struct screen){.out = tmpfile(), .width = 80};
	assert_int_equal(view_table(&report), 0);
	text = close_text(report.screen.out);
	assert_non_null(strstr(text, "a.pb.gz: 1000 ms of off_cpu in 2.0 s\n"
				     "complete 900 ms (90.00 %), cut 100 ms: cut_no_rule 100 ms\n"
				     "values: waits, off_cpu (--sample-type)\n"));
	free(text);
	profile_free(report.profile);
}

static void test_report__callers(void **state)
{
	const struct options options = {
		.files = {"a.pb.gz"}, .lines = 20, .callers = "work", .callees = "work"};

	(void)state;
	assert_view(view_callers, &options,
		    HEADER "ns::work\n"
			   "  total 50 ms (50.0%), self 30 ms (30.0%)\n"
			   "  called by\n"
			   "          50 ms 100.0%  main\n"
			   "  calls\n"
			   "          30 ms  60.0%  [itself]\n"
			   "          20 ms  40.0%  read_it\n\n");
	free(view(view_callers, &(struct options){.files = {"a"}, .callers = "["}, 80, -EINVAL));
}

/* Each function has its own pairs, the first and the last one too. */
static void test_report__callers_of_all(void **state)
{
	const struct options options = {.files = {"a.pb.gz"}, .lines = UINT_MAX, .callers = "."};
	const struct options one = {.files = {"a.pb.gz"}, .lines = 1, .callees = "work"};

	(void)state;
	assert_view(view_callers, &options,
		    HEADER "read_it\n"
			   "  total 60 ms (60.0%), self 60 ms (60.0%)\n"
			   "  called by\n"
			   "          40 ms  66.7%  [nobody: the root]\n"
			   "          20 ms  33.3%  ns::work\n\n"
			   "ns::work\n"
			   "  total 50 ms (50.0%), self 30 ms (30.0%)\n"
			   "  called by\n"
			   "          50 ms 100.0%  main\n\n"
			   "main\n"
			   "  total 50 ms (50.0%), self 0 ms (0.0%)\n"
			   "  called by\n"
			   "          50 ms 100.0%  [nobody: the root]\n\n"
			   "libplain.so.1+0x2234\n"
			   "  total 10 ms (10.0%), self 10 ms (10.0%)\n"
			   "  called by\n"
			   "          10 ms 100.0%  [cut: no rule]\n\n"
			   "[cut: no rule]\n"
			   "  total 10 ms (10.0%), self 0 ms (0.0%)\n"
			   "  called by\n"
			   "          10 ms 100.0%  [nobody: the root]\n\n");
	assert_view(view_callers, &one,
		    HEADER "ns::work\n"
			   "  total 50 ms (50.0%), self 30 ms (30.0%)\n"
			   "  calls\n"
			   "          30 ms  60.0%  [itself]\n"
			   "                1 more (-n 0: all)\n\n");
}

static void test_report__tree(void **state)
{
	const struct options options = {.files = {"a.pb.gz"}, .tree = true, .min = 15};

	(void)state;
	assert_view(view_tree, &options,
		    HEADER "  total   self  function, from 15 % on\n"
			   "  50.0%   0.0%  + main\n"
			   "  50.0%  30.0%      ns::work\n"
			   "  20.0%  20.0%      read_it\n"
			   "  40.0%  40.0%  + read_it\n");
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	for (; *text; text += strcspn(text, "\n") + 1)
		if (strcspn(text, "\n") > longest)
			longest = strcspn(text, "\n");
	return longest;
}

/* In 40 columns a difference leaves no room for names. Names get a few columns all the same. */
static void test_report__narrow_terminals_cut_names(void **state)
{
	const struct options diff = {.files = {"a", "b"}, .diff = true, .lines = 20};
	const struct options plain = {.files = {"a"}, .lines = 20};
	char *text = view(view_table, &diff, 40, 0);
	const char *rows = strstr(text, "self old");

	(void)state;
	assert_non_null(strstr(rows, "  libplain....\n"));
	assert_int_equal(longest_line(strchr(rows, '\n') + 1), 46 + 12);
	free(text);
	text = view(view_table, &plain, 51, 0);
	assert_non_null(strstr(text, "  libplain.s...\n"));
	free(text);
}

static void test_report__the_name_of_the_file_is_clean(void **state)
{
	const struct options json = {.files = {"/tmp/\xff\033.pb.gz"}, .json = true};
	const struct options plain = {.files = {"/tmp/\xff\033.pb.gz"}};
	char *text = view(view_table, &json, 80, 0);

	(void)state;
	assert_non_null(strstr(text, "{\"file\": \"/tmp/??.pb.gz\""));
	free(text);
	text = view(view_table, &plain, 80, 0);
	assert_int_equal(strncmp(text, "??.pb.gz: ", 10), 0);
	free(text);
}

/* Makes a stack of `locations`, each of which stands for PROFILE_LINES_MAX functions. */
static struct profile *deep_profile(size_t locations)
{
	struct profile *profile = profile_new();
	struct profile_line lines[PROFILE_LINES_MAX];
	struct profile_sample sample = {.count = 1};
	uint32_t stack[PROFILE_STACK_MAX];

	for (size_t i = 0; i < PROFILE_LINES_MAX; i++) {
		const char *name = i % 2 ? "odd" : "even";
		struct profile_function function = {.name = profile_string(profile, name)};

		lines[i] = (struct profile_line){profile_function_add(profile, &function), 0};
	}
	for (size_t i = 0; i < locations; i++) {
		stack[i] = profile_location_add(profile, 0, i);
		profile_location_get(profile, stack[i])->function =
			lines[PROFILE_LINES_MAX - 1].function;
		profile_location_set_inlined(profile, stack[i], lines, PROFILE_LINES_MAX - 1);
	}
	sample.stack = profile_stack_add(profile, stack, locations);
	profile_sample_add(profile, &sample);
	return profile;
}

static char *deep_tree(size_t locations, bool json)
{
	const struct options options = {.files = {"a"}, .tree = true, .json = json};
	struct report report = {.options = &options, .profile = deep_profile(locations)};

	report.screen = (struct screen){.out = tmpfile(), .width = 80};
	assert_int_equal(view_tree(&report), 0);
	profile_free(report.profile);
	return close_text(report.screen.out);
}

static size_t lines_of(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void test_report__a_tree_that_is_too_deep_says_so(void **state)
{
	const size_t head = 3, most = 4096;
	char *text = deep_tree(most / PROFILE_LINES_MAX, false);

	(void)state;
	assert_int_equal(lines_of(text), head + most);
	assert_null(strstr(text, "left out"));
	free(text);
	text = deep_tree(most / PROFILE_LINES_MAX + 1, false);
	assert_int_equal(lines_of(text), head + most + 1);
	assert_non_null(strstr(text, "note: 1 calls deeper than 4096 functions: left out\n"));
	free(text);
	text = deep_tree(most / PROFILE_LINES_MAX + 1, true);
	assert_non_null(strstr(text, "\"left_out\": 1\n}\n"));
	free(text);
}

static void test_report__names_are_cut_at_the_right(void **state)
{
	struct screen screen = {.width = 80};
	char *text;
	size_t size;

	(void)state;
	screen.out = open_memstream(&text, &size);
	assert_int_equal(screen_name(&screen, "abcdefgh", 8), 8);
	putc('\n', screen.out);
	assert_int_equal(screen_name(&screen, "abcdefghi", 8), 8);
	putc('\n', screen.out);
	assert_int_equal(screen_name(&screen, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f", 4), 4);
	putc('\n', screen.out);
	assert_int_equal(screen_name(&screen, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9fss", 5), 5);
	putc('\n', screen.out);
	/* Three characters of two columns each; no half of one is shown. */
	assert_int_equal(screen_name(&screen, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 6), 6);
	putc('\n', screen.out);
	assert_int_equal(screen_name(&screen, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5), 5);
	putc('\n', screen.out);
	assert_int_equal(screen_name(&screen, "x\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5), 4);
	putc('\n', screen.out);
	assert_int_equal(screen_name(&screen, "abcdefgh", 2), 2);
	assert_int_equal(screen_name(&screen, "abcdefgh", 0), 0);
	fclose(screen.out);
	assert_string_equal(text, "abcdefgh\nabcde...\n\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\n"
				  "\xc3\xa4\xc3\xb6...\n"
				  "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\n\xe6\x97\xa5...\n"
				  "x...\n..");
	free(text);
}

static void test_report__is_as_wide_as_it_is_told(void **state)
{
	static const struct {
		const char *columns;
		unsigned int width;
	} cases[] = {{"132", 132}, {"1", 40},  {"4294967295", 4000},
		     {"0", 80},	   {"-9", 80}, {"4294967296", 80}};
	FILE *out = fopen("/dev/null", "w");
	struct screen screen;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setenv("COLUMNS", cases[i].columns, 1);
		screen_init(&screen, out);
		assert_int_equal(screen.width, cases[i].width);
	}
	unsetenv("COLUMNS");
	screen_init(&screen, out);
	assert_int_equal(screen.width, 80);
	assert_false(screen.colour || screen.terminal);
	fclose(out);
}

static void test_report__lines_are_broken_on_a_terminal_alone(void **state)
{
	struct screen screen = {.width = 40};
	unsigned int column;
	char *text;
	size_t size;

	(void)state;
	screen.out = open_memstream(&text, &size);
	for (int terminal = 0; terminal < 2; terminal++) {
		screen.terminal = terminal;
		column = 0;
		for (int i = 1; i <= 3; i++)
			screen_part(&screen, &column, " part %d of sixteen,", i);
		putc('\n', screen.out);
		/* a word that fits nowhere stays in its place */
		column = 0;
		screen_part(&screen, &column, "%060d", 0);
		putc('\n', screen.out);
	}
	fclose(screen.out);
	assert_string_equal(text, " part 1 of sixteen, part 2 of sixteen, part 3 of sixteen,\n"
				  "000000000000000000000000000000000000000000000000000000000000\n"
				  " part 1 of sixteen, part 2 of sixteen,\n  part 3 of sixteen,\n"
				  "000000000000000000000000000000000000000000000000000000000000\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report__options),
		cmocka_unit_test(test_report__options_that_are_refused),
		cmocka_unit_test(test_report__options_that_would_do_nothing_are_refused),
		cmocka_unit_test(test_report__sums_by_function_and_object),
		cmocka_unit_test(test_report__sums_by_process_thread_reason_cgroup),
		cmocka_unit_test(test_report__languages),
		cmocka_unit_test(test_report__recursion_and_inlined_functions),
		cmocka_unit_test(test_report__order),
		cmocka_unit_test(test_report__filters),
		cmocka_unit_test(test_report__table),
		cmocka_unit_test(test_report__times_of_threads),
		cmocka_unit_test(test_report__callers),
		cmocka_unit_test(test_report__callers_of_all),
		cmocka_unit_test(test_report__tree),
		cmocka_unit_test(test_report__narrow_terminals_cut_names),
		cmocka_unit_test(test_report__the_name_of_the_file_is_clean),
		cmocka_unit_test(test_report__a_tree_that_is_too_deep_says_so),
		cmocka_unit_test(test_report__names_are_cut_at_the_right),
		cmocka_unit_test(test_report__is_as_wide_as_it_is_told),
		cmocka_unit_test(test_report__lines_are_broken_on_a_terminal_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

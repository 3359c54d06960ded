/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of sources in reports, and the names that a report proposes. */
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

#include "ipc/log.h"
#include "ipc/messages.h"
#include "view/report/filter.h"
#include "view/report/suggest.h"
#include "view/report/view.h"
#include "tests/unit/build_profile.h"

/* ---- a profile with lines ---- */

static uint32_t add_function(struct profile *profile, const char *name, const char *file,
			     uint32_t line)
{
	const struct profile_function function = {.name = profile_string(profile, name),
						  .file = profile_string(profile, file),
						  .line = line,
						  .object = 1,
						  .named = true};

	return profile_function_add(profile, &function);
}

static uint32_t add_location(struct profile *profile, uint64_t address, uint32_t function,
			     uint32_t line)
{
	uint32_t id = profile_location_add(profile, 1, address);

	profile_location_get(profile, id)->function = function;
	profile_location_get(profile, id)->line = line;
	return id;
}

static void add_sample(struct profile *profile, uint64_t count, uint32_t leaf, uint32_t caller)
{
	const uint32_t stack[] = {leaf, caller};
	const struct profile_sample sample = {.pid = 1,
					      .process_name = profile_string(profile, "app"),
					      .stack = profile_stack_add(profile, stack, 2),
					      .count = count};

	profile_sample_add(profile, &sample);
}

/* score_order() runs in lines 11 and 12; main() calls it in line 30; 4 samples have no source. */
static struct profile *profile_with_lines(void)
{
	struct profile *profile = profile_new();
	const struct profile_object object = {.name = profile_string(profile, "/usr/bin/app")};
	uint32_t score, work, plain, caller;

	profile_object_add(profile, &object);
	score = add_function(profile, "hot::score_order<Order>", "/src/hot.cc", 9);
	work = add_function(profile, "main", "/src/hot.cc", 20);
	plain = add_function(profile, "memcpy", "", 0);
	caller = add_location(profile, 0x30, work, 30);
	add_sample(profile, 10, add_location(profile, 0x11, score, 11), caller);
	add_sample(profile, 6, add_location(profile, 0x12, score, 12), caller);
	add_sample(profile, 4, add_location(profile, 0x99, plain, 0), caller);
	return profile;
}

static char *logged;

static void keep_line(void *owner, const struct message_log *line)
{
	(void)owner;
	free(logged);
	logged = strndup(line->text, sizeof(line->text));
}

static struct pprof_info info_of_samples(void)
{
	struct pprof_info info = {
		.type = "samples", .unit = "count", .by = 1, .total = 20, .kept = 20};

	info.times.period = 1;
	info.times.event = "samples";
	return info;
}

/* Returns what the view prints of a profile, which it frees. The caller frees the text. */
static char *view_profile(int (*show)(const struct report *report), const struct options *options,
			  struct profile *profile, const struct pprof_info *info, int expected)
{
	struct report report = {.options = options, .profile = profile, .info = *info};
	const char *bad;
	char *text;
	off_t size;

	report.old = *info;
	report.screen = (struct screen){.out = tmpfile(), .width = 80};
	assert_int_equal(patterns_init(&report.patterns, options, &bad), 0);
	assert_int_equal(show(&report), expected);
	patterns_release(&report.patterns);
	profile_free(report.profile);
	fflush(report.screen.out);
	size = lseek(fileno(report.screen.out), 0, SEEK_END);
	text = calloc(1, (size_t)size + 1);
	assert_int_equal(pread(fileno(report.screen.out), text, (size_t)size, 0), size);
	fclose(report.screen.out);
	return text;
}

static char *view(int (*show)(const struct report *report), const struct options *options,
		  int expected)
{
	const struct pprof_info info = info_of_samples();

	return view_profile(show, options, profile_with_lines(), &info, expected);
}

static void assert_has(int (*show)(const struct report *report), const struct options *options,
		       const char *expected)
{
	char *text = view(show, options, 0);

	if (!strstr(text, expected))
		fail_msg("no %s in: %s", expected, text);
	free(text);
}

static void test_report_lines__are_rows(void **state)
{
	const struct options options = {.files = {"a"}, .lines = 20, .by = BY_LINE};
	const struct options json = {.files = {"a"}, .lines = 2, .by = BY_LINE, .json = true};

	(void)state;
	assert_has(view_table, &options,
		   "         10  50.0%         10  50.0%  hot.cc:11 (hot::score_order<Order>)\n"
		   "          6  30.0%          6  30.0%  hot.cc:12 (hot::score_order<Order>)\n"
		   "          4  20.0%          4  20.0%  memcpy (app)\n"
		   "          0   0.0%         20 100.0%  hot.cc:30 (main) in /src\n");
	assert_has(
		view_table, &json,
		"{\"name\": \"/src/hot.cc:11\", \"self\": 10, \"total\": 10, \"object\": \"app\", "
		"\"function\": \"hot::score_order<Order>\", \"file\": \"/src/hot.cc\", "
		"\"line\": 11}");
	assert_has(view_table, &json, "\"left_out\": 2, \"left_out_self\": 4\n");
}

/* A function has the line with most of its samples. */
static void test_report_lines__are_in_each_view(void **state)
{
	const struct options table = {.files = {"a"}, .lines = 1, .json = true};
	const struct options tree = {.files = {"a"}, .tree = true, .json = true};
	const struct options text = {.files = {"a"}, .tree = true};
	const struct options callers = {
		.files = {"a"}, .lines = 20, .callers = "^score_order$", .json = true};
	const struct options callers_text = {.files = {"a"}, .lines = 20, .callers = "score"};

	(void)state;
	assert_has(view_table, &table, "\"file\": \"/src/hot.cc\", \"line\": 11}");
	assert_has(view_tree, &tree,
		   "\"total\": 20, \"file\": \"/src/hot.cc\", \"line\": 30, \"calls\"");
	assert_has(view_tree, &text, "+ hot::score_order<Order>  hot.cc:11\n");
	assert_has(view_callers, &callers,
		   "\"total\": 16, \"file\": \"/src/hot.cc\", \"line\": 11, \"callers\": [{"
		   "\"name\": \"main\", \"total\": 16, \"file\": \"/src/hot.cc\", "
		   "\"line\": 30}]");
	assert_has(view_callers, &callers, "\"left_out\": 0\n");
	assert_has(view_callers, &callers_text, "100.0%  main  hot.cc:30\n");
}

/* A sample without a line is not shown at the line where its function begins. */
static void test_report_lines__without_a_number_are_of_the_file(void **state)
{
	const struct options lines = {.files = {"a"}, .lines = 20, .by = BY_LINE};
	const struct options json = {.files = {"a"}, .lines = 20, .by = BY_LINE, .json = true};
	const struct options functions = {.files = {"a"}, .lines = 20, .json = true};
	const struct profile_object object = {.name = 0};
	const struct options *const options[] = {&lines, &json, &functions};
	static const char *const expected[] = {
		"hot.cc (score) in /src\n",
		("{\"name\": \"/src/hot.cc\", \"self\": 5, \"total\": 5, \"object\": \"\", "
		 "\"function\": \"score\", \"file\": \"/src/hot.cc\"}"),
		"\"file\": \"/src/hot.cc\", \"line\": 9}"};
	const struct pprof_info info = info_of_samples();

	(void)state;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		struct profile *profile = profile_new();
		uint32_t score, caller;
		char *text;

		profile_object_add(profile, &object);
		score = add_function(profile, "score", "/src/hot.cc", 9);
		caller = add_location(profile, 0x30, add_function(profile, "main", "", 0), 0);
		add_sample(profile, 5, add_location(profile, 0x11, score, 0), caller);
		text = view_profile(view_table, options[i], profile, &info, 0);
		if (!strstr(text, expected[i]))
			fail_msg("no %s in: %s", expected[i], text);
		free(text);
	}
}

/* Bytes are no samples of any time; the values of keyhole are. */
static void test_report_lines__json_of_bytes_counts_no_samples(void **state)
{
	const struct options options = {.files = {"a"}, .lines = 1, .json = true};
	struct pprof_info info = info_of_samples();
	char *text;

	(void)state;
	text = view_profile(view_table, &options, profile_with_lines(), &info, 0);
	assert_non_null(
		strstr(text, "\"samples\": 20, \"period\": 1, \"period_unit\": \"samples\", "));
	free(text);
	info = (struct pprof_info){
		.type = "inuse_space", .unit = "bytes", .by = 1, .total = 20, .kept = 20};
	info.times = (struct profile_times){.period = 1, .type = "inuse_space", .unit = "bytes"};
	text = view_profile(view_table, &options, profile_with_lines(), &info, 0);
	assert_non_null(strstr(text, "\"unit\": \"bytes\", \"total\": 20, \"shown\": 20, "
				     "\"start_ns\": 0"));
	assert_null(strstr(text, "samples"));
	assert_null(strstr(text, "period"));
	free(text);
}

/* The self of what is shown and the total of what is left out are all samples. */
static void test_report_lines__json_of_a_tree_counts_what_it_leaves_out(void **state)
{
	const struct options all = {.files = {"a"}, .tree = true, .json = true};
	const struct options half = {.files = {"a"}, .tree = true, .json = true, .min = 50};
	const struct options none = {.files = {"a"}, .tree = true, .json = true, .min = 100};

	(void)state;
	assert_has(view_tree, &all, "\"left_out_total\": 0, \"left_out\": 0\n");
	assert_has(view_tree, &half, "\"left_out_total\": 4, \"left_out\": 1\n");
	assert_has(view_tree, &none, "\"left_out_total\": 20, \"left_out\": 2\n");
}

/* ---- differences ---- */

/* Adds a function of one sample stack, with counts of the newer and of the older profile. */
static void add_change(struct profile *profile, const char *name, uint64_t now, uint64_t base)
{
	const uint32_t function =
		add_function(profile, name, "/usr/src/build/of/many/words/a.cc", 9);
	const uint32_t stack = add_location(profile, function, function, function * 10);
	struct profile_sample sample = {.pid = 1,
					.process_name = profile_string(profile, "app"),
					.stack = profile_stack_add(profile, &stack, 1)};

	sample.count = now;
	sample.base = base;
	profile_sample_add(profile, &sample);
}

/* The newer profile has the work of the older one and as much again: shares and rates differ. */
static struct profile *profile_with_changes(void)
{
	const struct profile_object object = {.name = 0};
	struct profile *profile = profile_new();

	profile_object_add(profile, &object);
	add_change(profile, "steady", 1000, 1000);
	add_change(profile, "grown", 800, 400);
	add_change(profile, "gone", 0, 100);
	return profile;
}

/* Returns where the table of a difference has a name. The text is freed. */
static size_t place_in_difference(const struct options *options, const char *name)
{
	struct pprof_info info = info_of_samples();
	char *text, *at;
	size_t place;

	info.times.duration_ns = 1000000000;
	text = view_profile(view_table, options, profile_with_changes(), &info, 0);
	at = strstr(text, name);
	if (!at)
		fail_msg("no %s in: %s", name, text);
	place = (size_t)(at - text);
	free(text);
	return place;
}

/* steady has 11 % less of the total, and as much in a second; grown has 18 % more, or 400. */
static void test_report_lines__a_difference_is_sorted_by_what_it_shows(void **state)
{
	const struct options shares = {.files = {"a", "b"}, .lines = 20, .diff = true};
	const struct options rates = {
		.files = {"a", "b"}, .lines = 20, .diff = true, .by_time = true};

	(void)state;
	assert_true(place_in_difference(&shares, "grown") < place_in_difference(&shares, "steady"));
	assert_true(place_in_difference(&shares, "steady") < place_in_difference(&shares, "gone"));
	assert_true(place_in_difference(&rates, "grown") < place_in_difference(&rates, "gone"));
	assert_true(place_in_difference(&rates, "gone") < place_in_difference(&rates, "steady"));
}

/* A line is told by its file and number: the folder is what a lack of room cuts. */
static void test_report_lines__a_difference_of_lines_shows_file_and_line(void **state)
{
	const struct options lines = {
		.files = {"a", "b"}, .lines = 20, .diff = true, .by = BY_LINE};

	(void)state;
	place_in_difference(&lines, "  a.cc:10 (steady)");
	place_in_difference(&lines, "  a.cc:20 (grown)");
}

/* jit() was called by a frame that is a guess in 5 samples, and proven in 2. */
static struct profile *profile_with_guess(void)
{
	struct profile *profile = profile_new();
	const struct profile_object object = {.name = 0};
	uint32_t stack[3];
	struct profile_sample sample = {.pid = 1, .process_name = profile_string(profile, "app")};

	profile_object_add(profile, &object);
	stack[0] = add_location(profile, 1, add_function(profile, "jit", "", 0), 0);
	stack[1] = add_location(profile, 2, add_function(profile, "[guessed]", "", 0), 0);
	stack[2] = add_location(profile, 3, add_function(profile, "main", "", 0), 0);
	sample.stack = profile_stack_add(profile, stack, 3);
	sample.count = 5;
	profile_sample_add(profile, &sample);
	add_sample(profile, 2, stack[0], stack[2]);
	return profile;
}

/* The marker is no caller: the frame behind it is, as a guess. */
static void test_report_lines__a_guessed_caller_is_named(void **state)
{
	const struct options options = {
		.files = {"a"}, .lines = 20, .callers = "^jit$", .callees = "^main$"};
	const struct options json = {.files = {"a"}, .lines = 20, .callers = "^jit$", .json = true};
	const struct pprof_info info = info_of_samples();
	char *text;

	(void)state;
	text = view_profile(view_callers, &options, profile_with_guess(), &info, 0);
	assert_non_null(strstr(text, "  called by\n"
				     "              5  71.4%  main (guessed)\n"
				     "              2  28.6%  main\n"));
	assert_non_null(strstr(text, "  calls\n"
				     "              5  71.4%  jit (guessed)\n"
				     "              2  28.6%  jit\n"));
	free(text);
	text = view_profile(view_callers, &json, profile_with_guess(), &info, 0);
	assert_non_null(strstr(text, "{\"name\": \"main\", \"total\": 5, \"guessed\": true"));
	free(text);
}

/* ---- patterns ---- */

static void test_report_lines__each_pattern_has_its_own_direction(void **state)
{
	const struct options options = {
		.files = {"a"}, .lines = 20, .callers = "^memcpy$", .callees = "^main$"};

	(void)state;
	assert_has(view_callers, &options,
		   "main  hot.cc:30\n"
		   "  total 20 (100.0%), self 0 (0.0%)\n"
		   "  calls\n"
		   "             16  80.0%  hot::score_order<Order>  hot.cc:11\n"
		   "              4  20.0%  memcpy\n\n"
		   "memcpy\n"
		   "  total 4 (20.0%), self 4 (20.0%)\n"
		   "  called by\n"
		   "              4 100.0%  main  hot.cc:30\n\n");
}

static void assert_refused(const char *pattern, const char *expected)
{
	const struct options options = {.files = {"a"}, .lines = 20, .callers = pattern};
	char *text = view(view_callers, &options, -ENOENT);

	assert_string_equal(text, "");
	assert_string_equal(logged, expected);
	free(text);
}

static void test_report_lines__a_pattern_without_a_match_proposes_names(void **state)
{
	(void)state;
	log_to(keep_line, NULL);
	assert_refused(
		"^SCORE",
		"report: ^SCORE: matches no function; did you mean: hot::score_order<Order>");
	assert_refused("^mencpy$", "report: ^mencpy$: matches no function; did you mean: memcpy");
	assert_refused("^$", "report: ^$: matches no function; "
			     "list them with: keyhole report -n 0 FILE");
	log_to(NULL, NULL);
	free(logged);
	logged = NULL;
}

static void test_report_lines__names_that_contain_the_word_come_first(void **state)
{
	struct suggest suggest;

	(void)state;
	suggest_begin(&suggest, "^(batch)+$");
	assert_string_equal(suggest.word, "batch");
	suggest_offer(&suggest, "natch");
	suggest_offer(&suggest, "far");
	suggest_offer(&suggest, "handle_Batch");
	assert_int_equal(suggest.count, 2);
	assert_string_equal(suggest.name[0], "handle_Batch");
	assert_string_equal(suggest.name[1], "natch");
	for (size_t i = 0; i < 2 * SUGGEST_NAMES; i++)
		suggest_offer(&suggest, "batches");
	assert_int_equal(suggest.count, SUGGEST_NAMES);
	assert_string_equal(suggest.name[SUGGEST_NAMES - 1], "batches");
}

static void test_report_lines__filters_propose_names(void **state)
{
	const struct options options = {.comm = "^ap$", .object = "none"};
	struct profile *profile = profile_with_lines();
	struct patterns patterns;
	struct filter filter;
	const char *bad;
	struct profile_sample sample;

	(void)state;
	log_to(keep_line, NULL);
	assert_int_equal(patterns_init(&patterns, &options, &bad), 0);
	filter_init(&filter, &options, &patterns);
	assert_false(filter_explain(&filter, profile));
	sample = profile_sample_get(profile, 0);
	assert_false(filter_keep(profile, &sample, 1, &filter));
	assert_true(filter_explain(&filter, profile));
	assert_string_equal(logged, "report: ^ap$: matches no process; did you mean: app");
	filter_release(&filter);
	patterns_release(&patterns);
	profile_free(profile);
	log_to(NULL, NULL);
	free(logged);
	logged = NULL;
}

/* Gives each sample of the profile to the filter. Returns what filter_explain() returns. */
static bool explained(const struct options *options, struct profile *profile)
{
	struct patterns patterns;
	struct filter filter;
	const uint32_t *stack;
	const char *bad;
	size_t count;
	bool r;

	assert_int_equal(patterns_init(&patterns, options, &bad), 0);
	filter_init(&filter, options, &patterns);
	count = profile_samples(profile);
	for (size_t i = 0; i < count; i++) {
		const struct profile_sample sample = profile_sample_get(profile, i);

		profile_stack_get(profile, sample.stack, &stack);
		assert_false(filter_keep(profile, &sample, stack[0], &filter));
	}
	r = filter_explain(&filter, profile);
	filter_release(&filter);
	patterns_release(&patterns);
	return r;
}

/* A process that is in the file is not called missing, because another filter leaves it out. */
static void test_report_lines__filters_are_blamed_for_what_is_missing_alone(void **state)
{
	const struct options kernel = {.comm = "^evil", .where = WHERE_KERNEL};
	const struct options pid = {.comm = "^evil", .pid = 100};
	const struct options both = {.comm = "^kthreadd$", .object = "libplain"};
	const struct options comm = {.comm = "^other$", .object = "libplain"};
	struct profile *profile = build_profile();

	(void)state;
	log_to(keep_line, NULL);
	assert_false(explained(&kernel, profile));
	assert_false(explained(&pid, profile));
	assert_false(explained(&both, profile));
	assert_true(explained(&comm, profile));
	assert_string_equal(logged,
			    "report: ^other$: matches no process; see which there are with --by");
	profile_free(profile);
	log_to(NULL, NULL);
	free(logged);
	logged = NULL;
}

/* The names of most samples are offered first, whatever the order of the file is. */
static void test_report_lines__filters_propose_the_most_frequent_names(void **state)
{
	const struct options options = {.comm = "^ap$"};
	struct profile *profile = profile_with_lines();
	struct profile_sample sample = {.pid = 2, .count = 1};
	const uint32_t stack = 1;

	(void)state;
	log_to(keep_line, NULL);
	sample.process_name = profile_string(profile, "apple");
	sample.stack = profile_stack_add(profile, &stack, 1);
	for (uint32_t pid = 2; pid < 7; pid++) {
		sample.pid = pid;
		profile_sample_add(profile, &sample);
	}
	assert_true(explained(&options, profile));
	assert_string_equal(logged, "report: ^ap$: matches no process; did you mean: apple, app");
	profile_free(profile);
	log_to(NULL, NULL);
	free(logged);
	logged = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report_lines__are_rows),
		cmocka_unit_test(test_report_lines__are_in_each_view),
		cmocka_unit_test(test_report_lines__without_a_number_are_of_the_file),
		cmocka_unit_test(test_report_lines__json_of_bytes_counts_no_samples),
		cmocka_unit_test(test_report_lines__json_of_a_tree_counts_what_it_leaves_out),
		cmocka_unit_test(test_report_lines__a_difference_is_sorted_by_what_it_shows),
		cmocka_unit_test(test_report_lines__a_difference_of_lines_shows_file_and_line),
		cmocka_unit_test(test_report_lines__a_guessed_caller_is_named),
		cmocka_unit_test(test_report_lines__each_pattern_has_its_own_direction),
		cmocka_unit_test(test_report_lines__a_pattern_without_a_match_proposes_names),
		cmocka_unit_test(test_report_lines__names_that_contain_the_word_come_first),
		cmocka_unit_test(test_report_lines__filters_propose_names),
		cmocka_unit_test(test_report_lines__filters_are_blamed_for_what_is_missing_alone),
		cmocka_unit_test(test_report_lines__filters_propose_the_most_frequent_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a file's values, as different writers choose them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "proto/profile.pb-c.h"
#include "profile/format/format.h"
#include "profile/format/names.h"
#include "profile/profile.h"
#include "profile/read/unpack.h"
#include "tests/unit/build_profile.h"
#include "profile/read/pprof_read.h"

static int read_named(char *name, const char *wanted, struct pprof_info *ret_info)
{
	const struct pprof_options options = {.sample_type = wanted};
	Perftools__Profiles__Profile file = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	Perftools__Profiles__ValueType *types[] = {&type};
	char *strings[] = {(char[]){""}, name, (char[]){"bytes"}};
	struct profile *profile = profile_new();
	uint8_t bytes[512];
	int r;

	type.type = 1;
	type.unit = 2;
	file.n_sample_type = 1;
	file.sample_type = types;
	file.period_type = &type;
	file.n_string_table = 3;
	file.string_table = strings;
	r = pprof_read(bytes, perftools__profiles__profile__pack(&file, bytes), &options, profile,
		       ret_info);
	profile_free(profile);
	return r;
}

static void assert_clean(const char *text)
{
	char again[512];

	format_clean_name(again, sizeof(again), text);
	assert_string_equal(again, text);
}

/* The characters have four bytes each, and a buffer may end in any of these. */
static void test_pprof_types__are_not_cut_in_a_character(void **state)
{
	struct pprof_info info;
	char name[201];

	(void)state;
	for (size_t start = 0; start < 4; start++) {
		memset(name, 'x', start);
		for (size_t at = start; at + 4 < sizeof(name); at += 4)
			memcpy(name + at, "\360\237\224\245", 5);
		assert_int_equal(read_named(name, NULL, &info), 0);
		for (size_t i = 0; i < 3; i++) {
			const char *text = i == 0 ? info.type : i == 1 ? info.event : info.types;

			assert_clean(text);
			assert_string_equal(text + strlen(text) - 3, "...");
		}
		assert_int_equal(read_named(name, "none", &info), -ENOENT);
		assert_clean(info.problem);
		assert_int_equal(read_named((char[]){"x"}, name, &info), -ENOENT);
		assert_clean(info.problem);
	}
}

/* Writes the values of a file in another format, and returns the text. The caller frees it. */
static char *convert(const struct format *format, const char *type, const char *unit)
{
	const struct profile_times times = {.period = 1, .type = type, .unit = unit};
	const struct format_options options = {0};
	struct profile *profile = build_profile();
	int fd = memfd_create("converted", MFD_CLOEXEC);
	char *text;
	off_t size;

	assert_int_equal(format->render(profile, &times, &options, fd), 0);
	size = lseek(fd, 0, SEEK_END);
	text = calloc(1, (size_t)size + 1);
	assert_int_equal(pread(fd, text, (size_t)size, 0), size);
	close(fd);
	profile_free(profile);
	return text;
}

/* No format calls the values samples or CPU time, and each has the amounts as they are. */
static void test_pprof_types__are_kept_in_each_format(void **state)
{
	static const struct {
		const struct format *format;
		const char *type, *unit, *expected;
	} cases[] = {
		{&format_speedscope, "delay", "nanoseconds", "\"unit\":\"nanoseconds\""},
		{&format_speedscope, "delay", "nanoseconds",
		 "\"name\":\"(no times) keyhole: delay\""},
		{&format_speedscope, "space", "bytes", "\"unit\":\"bytes\""},
		{&format_speedscope, "contentions", "count", "\"unit\":\"none\""},
		{&format_firefox, "delay", "nanoseconds", "\"weightType\":\"tracing-ms\""},
		{&format_firefox, "delay", "nanoseconds", "\"weight\":[0.000002]"},
		{&format_firefox, "space", "bytes", "\"weightType\":\"bytes\""},
		{&format_html, "delay", "nanoseconds",
		 "\"unit\":\"nanoseconds\",\"event\":\"delay\""},
		{&format_svg, "space", "bytes", ">10 bytes of space<"},
		{&format_svg, "contentions", "count", ">10 contentions<"},
		{&format_otlp_json, "space", "bytes", "\"values\":[\"2\"]"},
		{&format_otlp_json, "space", "bytes", "\"space\",\"bytes\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = convert(cases[i].format, cases[i].type, cases[i].unit);

		if (!strstr(text, cases[i].expected))
			fail_msg("no %s in: %s", cases[i].expected, text);
		assert_null(strstr(text, "\"threadCPUDelta\":["));
		if (cases[i].format != &format_html) /* the page's script has the words */
			assert_null(strstr(text, "CPU time"));
		free(text);
	}
}

/* A file of one value is read, written and read again without a change. */
static void test_pprof_types__survive_pprof(void **state)
{
	const struct pprof_options options = {0};
	struct profile *profile = profile_new();
	struct pprof_info info;
	unsigned char *bytes;
	size_t size;
	const struct profile_times times = {.period = 1, .type = "delay", .unit = "nanoseconds"};
	int fd = memfd_create("pprof", MFD_CLOEXEC);
	struct profile *written = build_profile();

	(void)state;
	assert_int_equal(format_pprof.render(written, &times, &(struct format_options){0}, fd), 0);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(unpack_file(fd, &bytes, &size), 0);
	assert_int_equal(pprof_read(bytes, size, &options, profile, &info), 0);
	assert_string_equal(info.types, "delay");
	assert_string_equal(info.times.type, "delay");
	assert_string_equal(info.times.unit, "nanoseconds");
	assert_int_equal(info.total, 10);
	assert_int_equal(info.by, 1);
	free(bytes);
	close(fd);
	profile_free(written);
	profile_free(profile);
}

/* ---- times of threads ---- */

static void add_time(struct profile *profile, uint32_t state, const char *waker, uint32_t reason,
		     uint64_t ns)
{
	struct profile_sample sample = {.pid = 7, .tid = 8, .state = state, .reason = reason};
	const uint32_t stack = build_profile_location(profile, "/bin/waits", "main");

	sample.process_name = sample.thread_name = profile_string(profile, "waits");
	sample.waker = profile_string(profile, waker);
	sample.count = ns;
	if (state != STATE_CPU)
		sample.waits = 3 * PROFILE_WAITS_ONE;
	sample.stack = profile_stack_add(profile, &stack, 1);
	assert_int_equal(profile_sample_add(profile, &sample), 0);
}

static struct profile *build_times(void)
{
	struct profile *profile = profile_new();

	add_time(profile, STATE_CPU, "", 0, 1000);
	add_time(profile, STATE_LOCK, "pong/9", 0, 2000);
	add_time(profile, STATE_SLEEP, "[interrupt]", REASON_cut_no_rule, 4000);
	profile_note_add(profile, "runtime: a note");
	return profile;
}

/* Writes and reads a profile, and returns what was read. */
static struct profile *reread(const struct profile *profile, const struct profile_times *times,
			      const char *wanted, struct pprof_info *ret_info)
{
	const struct pprof_options options = {.sample_type = wanted};
	struct profile *again = profile_new();
	int fd = memfd_create("pprof", MFD_CLOEXEC);
	unsigned char *bytes;
	size_t size;

	assert_int_equal(format_pprof.render(profile, times, &(struct format_options){0}, fd), 0);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(unpack_file(fd, &bytes, &size), 0);
	assert_int_equal(pprof_read(bytes, size, &options, again, ret_info), 0);
	free(bytes);
	close(fd);
	return again;
}

static void assert_times(const struct profile *profile)
{
	static const struct {
		uint32_t state;
		const char *waker;
		uint64_t ns, waits;
	} expected[] = {{STATE_CPU, "", 1000, 0},
			{STATE_LOCK, "pong/9", 2000, 3},
			{STATE_SLEEP, "[interrupt]", 4000, 3}};

	assert_int_equal(profile_samples(profile), 3);
	for (size_t i = 0; i < 3; i++) {
		const struct profile_sample sample = profile_sample_get(profile, i);

		assert_int_equal(sample.pid, 7);
		assert_int_equal(sample.tid, 8);
		assert_int_equal(sample.state, expected[i].state);
		assert_string_equal(profile_string_get(profile, sample.waker), expected[i].waker);
		assert_int_equal(sample.count, expected[i].ns);
		assert_int_equal(sample.waits, expected[i].waits * PROFILE_WAITS_ONE);
	}
	assert_int_equal(profile_sample_get(profile, 2).reason, REASON_cut_no_rule);
}

/* keyhole-symbolize takes what is ours alone, reads it and writes it. */
static void test_pprof_types__times_of_threads_are_ours(void **state)
{
	static const char *const types[] = {"off_cpu", "wall"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct profile_times times = {.period = 1,
						    .tick = 10101010,
						    .type = types[i],
						    .unit = "nanoseconds",
						    .walked = true};
		struct profile *profile = build_times(), *again, *third;
		struct pprof_info info, twice;
		size_t notes;

		again = reread(profile, &times, NULL, &info);
		assert_true(info.ours);
		third = reread(again, &info.times, NULL, &twice);
		assert_true(twice.ours && twice.is_time);
		assert_string_equal(twice.type, types[i]);
		assert_string_equal(twice.times.unit, "nanoseconds");
		assert_int_equal(strncmp(twice.types, "waits, ", 7), 0);
		assert_int_equal(twice.total, 7000);
		assert_times(again);
		assert_times(third);
		profile_notes(third, &notes);
		assert_int_equal(notes, 1);
		profile_free(profile);
		profile_free(again);
		profile_free(third);
	}
}

/* The number of waits comes with their states, too. */
static void test_pprof_types__waits_are_counted(void **state)
{
	const struct profile_times times = {.period = 1,
					    .tick = 10101010,
					    .type = "off_cpu",
					    .unit = "nanoseconds",
					    .walked = true};
	struct profile *profile = build_times(), *again;
	struct pprof_info info;

	(void)state;
	again = reread(profile, &times, "waits", &info);
	assert_true(info.ours);
	assert_false(info.is_time);
	assert_int_equal(info.total, 6);
	assert_int_equal(profile_samples(again), 2);
	assert_int_equal(profile_sample_get(again, 0).state, STATE_LOCK);
	profile_free(profile);
	profile_free(again);
}

/* A program may call its own labels as the writer calls those of times of threads. */
static void test_pprof_types__labels_of_programs_are_no_states(void **state)
{
	const struct profile_times cpu = {.period = 1000, .walked = true};
	const struct profile_times wall = {
		.period = 1, .tick = 1, .type = "wall", .unit = "nanoseconds", .walked = true};
	struct profile *profile = profile_new(), *again;
	struct profile_label label = {profile_string(profile, "wait"),
				      profile_string(profile, "lock")};
	struct profile_sample sample = {.pid = 7, .count = 1};
	const struct profile_label *labels;
	struct pprof_info info;

	(void)state;
	sample.labels = profile_labels_add(profile, &label, 1);
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	again = reread(profile, &cpu, NULL, &info);
	sample = profile_sample_get(again, 0);
	assert_int_equal(sample.state, STATE_CPU);
	assert_int_equal(profile_labels_get(again, sample.labels, &labels), 1);
	assert_string_equal(profile_string_get(again, labels[0].key), "wait");
	assert_string_equal(profile_string_get(again, labels[0].value), "lock");
	profile_free(again);
	again = reread(profile, &wall, NULL, &info);
	sample = profile_sample_get(again, 0);
	assert_int_equal(sample.state, STATE_CPU);
	assert_int_equal(profile_labels_get(again, sample.labels, &labels), 0);
	profile_free(again);
	profile_free(profile);
}

/* Times of which nobody knows whether keyhole walked the stacks are nobody's. */
static void test_pprof_types__times_of_another_profiler(void **state)
{
	const struct profile_times times = {
		.period = 1, .tick = 1, .type = "wall", .unit = "nanoseconds"};
	struct profile *profile = build_times(), *again;
	struct pprof_info info;

	(void)state;
	again = reread(profile, &times, NULL, &info);
	assert_false(info.ours);
	profile_free(profile);
	profile_free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pprof_types__are_not_cut_in_a_character),
		cmocka_unit_test(test_pprof_types__are_kept_in_each_format),
		cmocka_unit_test(test_pprof_types__survive_pprof),
		cmocka_unit_test(test_pprof_types__times_of_threads_are_ours),
		cmocka_unit_test(test_pprof_types__waits_are_counted),
		cmocka_unit_test(test_pprof_types__labels_of_programs_are_no_states),
		cmocka_unit_test(test_pprof_types__times_of_another_profiler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pprof_types__are_not_cut_in_a_character),
		cmocka_unit_test(test_pprof_types__are_kept_in_each_format),
		cmocka_unit_test(test_pprof_types__survive_pprof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

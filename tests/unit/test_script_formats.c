/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of an interpreted program in each format. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/languages.h"
#include "base/runtimes.h"
#include "profile/format/format.h"
#include "profile/profile.h"
#include "profile/read/pprof_read.h"
#include "profile/read/unpack.h"
#include "tests/unit/build_profile.h"

/* libc below Work.run, line 41, in <module>. */
static struct profile *make_profile(void)
{
	struct profile *profile = profile_new();
	const struct profile_object python = {
		.name = profile_string(profile, "[python]"),
		.kind = KIND_SCRIPT,
		.runtime = RUNTIME_CPYTHON,
		.limit = 1ull << 30,
	};
	struct profile_function function = {.object = profile_object_add(profile, &python),
					    .file = profile_string(profile, "/srv/work.py"),
					    .named = true};
	static const char *const names[] = {"Work.run", "<module>"};
	struct profile_sample sample = {.pid = 1, .tid = 1, .count = 2};
	uint32_t stack[3] = {build_profile_location(profile, "libc.so.6", "memcpy")};

	sample.process_name = profile_string(profile, "app");
	for (uint32_t i = 1; i < 3; i++) {
		struct profile_location *location;

		function.name = function.system_name = profile_string(profile, names[i - 1]);
		function.line = 40 * i;
		function.start = (uint64_t)i << 24;
		stack[i] = profile_location_add(profile, function.object, function.start | 1);
		location = profile_location_get(profile, stack[i]);
		location->line = 40 * i + 1;
		location->function = profile_function_add(profile, &function);
	}
	sample.stack = profile_stack_add(profile, stack, 3);
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	return profile;
}

static char *render(const struct format *format)
{
	struct profile *profile = make_profile();
	size_t size;
	unsigned char *bytes = build_profile_render(format, profile, false, &size);
	char *text;

	assert_non_null(bytes);
	text = calloc(size + 1, 1);
	assert_non_null(text);
	memcpy(text, bytes, size);
	free(bytes);
	profile_free(profile);
	return text;
}

static void assert_has(const struct format *format, const char *wanted)
{
	char *text = render(format);

	if (!strstr(text, wanted))
		print_error("%s\n", text);
	assert_non_null(strstr(text, wanted));
	free(text);
}

static void test_script_formats__folded(void **state)
{
	char *text = render(&format_folded);

	(void)state;
	assert_string_equal(text, "app;<module>_[j];Work.run_[j];memcpy 2\n");
	free(text);
}

static void test_script_formats__texts(void **state)
{
	(void)state;
	assert_has(&format_otlp_json, "\"cpython\"");
	assert_has(&format_otlp_json, "/srv/work.py");
	assert_has(&format_speedscope, "/srv/work.py");
	assert_has(&format_svg, "managed code");
	assert_has(&format_html, "managed code");
}

static void test_script_formats__pprof_comes_back(void **state)
{
	struct profile *profile = make_profile(), *again = profile_new();
	const struct profile_location *location;
	const struct profile_function *function;
	const struct pprof_options options = {0};
	struct pprof_info info;
	size_t size;
	unsigned char *bytes = build_profile_render(&format_pprof, profile, false, &size);
	int fd = memfd_create("profile", MFD_CLOEXEC);

	(void)state;
	assert_non_null(bytes);
	assert_int_equal(write(fd, bytes, size), size);
	lseek(fd, 0, SEEK_SET);
	free(bytes);
	assert_int_equal(unpack_file(fd, &bytes, &size), 0);
	assert_int_equal(pprof_read(bytes, size, &options, again, &info), 0);
	location = profile_location_get(again, 2);
	function = profile_function_get(again, location->function);
	assert_int_equal(profile_location_kind(again, 2), KIND_SCRIPT);
	assert_int_equal(profile_location_object(again, 2)->runtime, RUNTIME_CPYTHON);
	assert_int_equal(location->line, 41);
	assert_string_equal(profile_string_get(again, function->name), "Work.run");
	assert_string_equal(profile_string_get(again, function->file), "/srv/work.py");
	assert_int_equal(function->line, 40);
	free(bytes);
	close(fd);
	profile_free(profile);
	profile_free(again);
}

static void test_script_formats__languages(void **state)
{
	(void)state;
	assert_string_equal(language_of_runtime(RUNTIME_CPYTHON)->name, "Python");
	assert_int_equal(language_of_object("[python]")->runtime, RUNTIME_CPYTHON);
	assert_null(language_of_object("[pythons]"));
	assert_null(language_of_object(""));
	assert_null(language_of_runtime(RUNTIME_NONE));
	assert_null(language_of_runtime(RUNTIME_MONO));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_script_formats__folded),
		cmocka_unit_test(test_script_formats__texts),
		cmocka_unit_test(test_script_formats__pprof_comes_back),
		cmocka_unit_test(test_script_formats__languages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

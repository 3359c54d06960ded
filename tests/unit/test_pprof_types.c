/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a file's values, as different writers choose them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "proto/profile.pb-c.h"
#include "profile/format/names.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pprof_types__are_not_cut_in_a_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

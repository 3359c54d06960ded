/* SPDX-License-Identifier: Apache-2.0 */
/* Each row of ipc/formats.def keeps these rules. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/messages.h"
#include "profile/format/format.h"
#include "profile/profile.h"
#include "tests/unit/build_profile.h"
#include "tests/unit/json_check.h"

/* The end of an empty profile's text; NULL: not a text (test_pprof.c and test_otlp.c read it). */
#define EMPTY_folded	 ""
#define EMPTY_pprof	 NULL
#define EMPTY_html	 "\"level\":[0],\"self\":[0]}}\n</script>\n"
#define EMPTY_svg	 "</svg>\n"
#define EMPTY_speedscope "\"profiles\":[]}"
#define EMPTY_firefox	 "\"threads\":[]}"
#define EMPTY_otlp	 NULL
#define EMPTY_otlp_json                                                     \
	"{\"dictionary\":{\"mappingTable\":[{}],\"locationTable\":[{}],"    \
	"\"functionTable\":[{}],\"linkTable\":[{}],\"stringTable\":[\"\"]," \
	"\"attributeTable\":[{}],\"stackTable\":[{}]}}\n"

static const struct row {
	const struct format *format;
	uint32_t id;
	const char *name, *empty, *suffix;
} rows[] = {
#define F(number, id, name, suffix, help) {&format_##id, number, name, EMPTY_##id, suffix},
#include "ipc/formats.def"
#undef F
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static bool is_json(const struct row *row)
{
	return strstr(row->suffix, ".json") != NULL;
}

static void test_formats__are_found_by_their_ids(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		assert_ptr_equal(format_find(rows[i].id), rows[i].format);
	assert_null(format_find(0));
	assert_null(format_find(99));
}

static void test_formats__an_empty_profile_is_whole(void **state)
{
	struct profile *profile = profile_new();

	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		size_t size;
		char *text = (char *)build_profile_render(rows[i].format, profile, false, &size);

		assert_non_null(text);
		if (is_json(&rows[i]))
			assert_null(json_check(text, size));
		if (rows[i].empty && !*rows[i].empty)
			assert_int_equal(size, 0);
		else if (rows[i].empty && !strstr(text, rows[i].empty))
			fail_msg("%s: no '%s' in: %s", rows[i].name, rows[i].empty, text);
		free(text);
	}
	profile_free(profile);
}

static void test_formats__a_failed_write_is_reported(void **state)
{
	struct profile *profile = build_profile();
	struct format_options options = {0};
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		assert_int_equal(
			rows[i].format->render(profile, &build_profile_times, &options, fd),
			-ENOSPC);
	close(fd);
	profile_free(profile);
}

/* pprof leaves the label out. */
static void test_formats__a_process_without_a_name_is_unknown(void **state)
{
	struct profile *profile = profile_new();
	const struct profile_sample sample = {.pid = 1, .tid = 1, .count = 1};

	(void)state;
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	for (size_t i = 0; i < ROWS; i++) {
		size_t size;
		unsigned char *text = build_profile_render(rows[i].format, profile, false, &size);

		assert_non_null(text);
		if (rows[i].format != &format_pprof &&
		    !memmem(text, size, PROFILE_UNKNOWN, strlen(PROFILE_UNKNOWN)))
			fail_msg("%s: no " PROFILE_UNKNOWN, rows[i].name);
		free(text);
	}
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats__are_found_by_their_ids),
		cmocka_unit_test(test_formats__an_empty_profile_is_whole),
		cmocka_unit_test(test_formats__a_failed_write_is_reported),
		cmocka_unit_test(test_formats__a_process_without_a_name_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The html and svg formats: structure, totals, and names that must not become markup. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/messages.h"
#include "tests/unit/build_profile.h"
#include "profile/format/format.h"
#include "profile/profile.h"

#define DATA_TAG "<script type=\"application/json\" id=\"data\">\n"

static char *render(const struct format *format, const struct profile *profile, bool by_thread)
{
	size_t size;
	char *text = (char *)build_profile_render(format, profile, by_thread, &size);

	assert_non_null(text);
	assert_int_equal(strlen(text), size);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in: %.3000s", part, text);
}

static size_t occurrences(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text++)
		count++;
	return count;
}

/* Returns the data behind the page. */
static const char *data_of(const char *page)
{
	const char *data = strstr(page, DATA_TAG);

	assert_non_null(data);
	return data + strlen(DATA_TAG);
}

static uint64_t sum_of(const char *data, const char *column)
{
	const char *at = strstr(data, column);
	uint64_t sum = 0;
	char *end;

	assert_non_null(at);
	for (at += strlen(column); *at != ']'; at = *end == ',' ? end + 1 : end)
		sum += strtoull(at, &end, 10);
	return sum;
}

static void test_html__is_the_page_and_its_data(void **state)
{
	struct profile *profile = build_profile();
	char *page = render(&format_html, profile, false);
	const char *data = data_of(page);

	(void)state;
	assert_int_equal(strncmp(page, "<!DOCTYPE html>\n", 16), 0);
	assert_has(page, "content=\"default-src 'none'; img-src data:;\n\tstyle-src 'sha256-");
	assert_null(strstr(page, "_HASH@"));
	assert_int_equal(strncmp(data, "{\"keyhole\":", 11), 0);
	assert_has(data,
		   "\"samples\":10,\"period\":10000000,\"event\":null,\"start_ms\":1700000000000,"
		   "\"duration_ms\":2000,\"by_thread\":false,");
	assert_has(data, "[\"KERNEL\",\"kernel\",\"#");
	assert_has(data, "\"file\":[0,0,");
	assert_has(data, "\"inlined\":[0,0,");
	assert_has(data, "\"level\":[0,1,2,3,4,2,3,4,5,1,2,3,1,2,3,4],"
			 "\"self\":[0,0,0,0,3,0,0,0,2,0,0,4,0,0,0,1]}}\n</script>\n");
	free(page);
	profile_free(profile);
}

/* The page shows notes, and code made at run time has a colour of its own. */
static void test_html__has_notes_and_the_kind_of_code_made_at_run_time(void **state)
{
	struct profile *profile = profile_new();
	const struct profile_object object = {.name = profile_string(profile, "[anon]"),
					      .kind = KIND_ANON};
	struct profile_sample sample = {.pid = 1, .count = 1};
	uint32_t location =
		profile_location_add(profile, profile_object_add(profile, &object), 0x1000);
	char *page;

	(void)state;
	sample.stack = profile_stack_add(profile, &location, 1);
	assert_int_equal(profile_sample_add(profile, &sample), 0);
	assert_int_equal(profile_note_add(profile, "runtime: <a>, 61 %"), 0);
	page = render(&format_html, profile, false);
	assert_has(data_of(page), ",\"notes\":[\"runtime: \\u003ca\\u003e, 61 %\"],");
	assert_has(data_of(page), "[\"ANON\",\"code made at run time\",\"#");
	free(page);
	profile_free(profile);
}

static void test_html__says_whether_threads_were_asked_for(void **state)
{
	struct profile *profile = build_profile();
	char *page = render(&format_html, profile, true);

	(void)state;
	assert_has(data_of(page), "\"by_thread\":true,");
	free(page);
	profile_free(profile);
}

/* Lines of folded stacks end in their counts. */
static uint64_t folded_total(const struct profile *profile)
{
	char *text = render(&format_folded, profile, false), *save = NULL;
	uint64_t sum = 0;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		sum += strtoull(strrchr(line, ' '), NULL, 10);
	free(text);
	return sum;
}

static void test_pictures__totals_are_those_of_folded(void **state)
{
	struct profile *profile = build_profile();
	char *page = render(&format_html, profile, false);
	char *picture = render(&format_svg, profile, false);
	char total[64];

	(void)state;
	assert_int_equal(sum_of(data_of(page), "\"self\":["), folded_total(profile));
	snprintf(total, sizeof(total), "<title>all\ntotal %u (100.00 %%)",
		 (unsigned int)folded_total(profile));
	assert_has(picture, total);
	free(page);
	free(picture);
	profile_free(profile);
}

static struct profile *build_named(const char *name)
{
	struct profile *profile = profile_new();
	const struct profile_object object = {.name = profile_string(profile, name)};
	const struct profile_function function = {.name = profile_string(profile, name)};
	uint32_t id = profile_location_add(profile, profile_object_add(profile, &object), 1);
	struct profile_sample sample = {.process_name = profile_string(profile, name),
					.thread_name = profile_string(profile, name),
					.count = 1};

	profile_location_get(profile, id)->function = profile_function_add(profile, &function);
	sample.stack = profile_stack_add(profile, &id, 1);
	profile_sample_add(profile, &sample);
	return profile;
}

static void assert_names(const char *name, const char *html, const char *svg)
{
	struct profile *profile = build_named(name);
	char *page = render(&format_html, profile, true);
	char *picture = render(&format_svg, profile, true);

	assert_has(data_of(page), html);
	assert_int_equal(occurrences(data_of(page), "<"), 1); /* that of </script> */
	assert_has(picture, svg);
	assert_int_equal(occurrences(picture, "<script"), 0);
	assert_int_equal(occurrences(picture, "<g>"), 4);
	free(page);
	free(picture);
	profile_free(profile);
}

static void test_pictures__names_are_no_markup(void **state)
{
	(void)state;
	assert_names("</script><script>alert(1)//",
		     "\"\\u003c/script\\u003e\\u003cscript\\u003ealert(1)//\"",
		     "&lt;/script&gt;&lt;script&gt;alert(1)//");
	assert_names("<!--\"'&\\", "\"\\u003c!--\\\"'\\u0026\\\\\"", "&lt;!--&quot;&#39;&amp;\\");
	assert_names("a\033\r\n\001\377b", "\"a?????b\"", "a?????b");
	assert_names("\342\200\256rtl\357\277\277", "\"?rtl?\"", "?rtl?");
	assert_names("\303\244\360\237\224\245", "\"\303\244\360\237\224\245\"",
		     "\303\244\360\237\224\245");
}

/* The name of the event is a text in the file. All formats but the pictures write JSON. */
static void test_formats__events_are_no_markup(void **state)
{
	static const struct format *const formats[] = {&format_svg, &format_html,
						       &format_speedscope, &format_firefox};
	struct profile_times times = build_profile_times, base = build_profile_times;
	const struct format_options options = {.base = &base};
	struct profile *profile = build_profile();

	(void)state;
	times.event = base.event = "x<b>\"'&\\";
	times.period = base.period = 1;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		const struct format_options none = {0};
		int fd = memfd_create("profile", MFD_CLOEXEC);
		char text[1 << 18] = "";

		assert_int_equal(formats[i]->render(profile, &times, i == 0 ? &options : &none, fd),
				 0);
		assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
		assert_null(strstr(text, "x<b>"));
		if (i == 0)
			assert_int_equal(occurrences(text, " x&lt;b&gt;&quot;&#39;&amp;\\"), 2);
		else
			assert_has(text, "x\\u003cb\\u003e\\\"'\\u0026\\\\\"");
		close(fd);
	}
	profile_free(profile);
}

static void test_svg__cuts_names_at_the_right_and_says_what_is_hidden(void **state)
{
	struct profile *profile = build_named("f");
	struct profile_sample sample = {.count = 100000,
					.process_name = profile_string(profile, "large")};
	char name[1024], *picture;

	(void)state;
	profile_sample_add(profile, &sample);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	sample.process_name = profile_string(profile, name);
	profile_sample_add(profile, &sample);
	picture = render(&format_svg, profile, false);
	assert_has(picture, "xxxxx..</text>");
	assert_has(picture, name); /* in the title */
	assert_has(picture, ">2 frames narrower than 0.5 px (0.042 %) are not drawn.");
	free(picture);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_html__is_the_page_and_its_data),
		cmocka_unit_test(test_html__has_notes_and_the_kind_of_code_made_at_run_time),
		cmocka_unit_test(test_html__says_whether_threads_were_asked_for),
		cmocka_unit_test(test_pictures__totals_are_those_of_folded),
		cmocka_unit_test(test_pictures__names_are_no_markup),
		cmocka_unit_test(test_formats__events_are_no_markup),
		cmocka_unit_test(test_svg__cuts_names_at_the_right_and_says_what_is_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/json_check.h"
#include "profile/format/json.h"
#include "profile/format/output.h"

struct rig {
	struct output output;
	struct json json;
	char text[1024];
};

static struct rig rig;

static int setup(void **state)
{
	int fd = memfd_create("json", MFD_CLOEXEC);

	*state = &rig;
	if (fd < 0 || output_init(&rig.output, fd, false) < 0)
		return -1;
	json_init(&rig.json, &rig.output);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close(rig.output.fd);
	output_release(&rig.output);
	return 0;
}

static void assert_text(const char *expected)
{
	ssize_t size;

	json_finish(&rig.json);
	assert_int_equal(output_finish(&rig.output), 0);
	size = pread(rig.output.fd, rig.text, sizeof(rig.text) - 1, 0);
	assert_true(size > 0);
	rig.text[size] = '\0';
	assert_null(json_check(rig.text, (size_t)size));
	assert_int_equal(rig.text[--size], '\n');
	rig.text[size] = '\0';
	assert_string_equal(rig.text, expected);
}

static void assert_refused(void)
{
	assert_int_equal(output_finish(&rig.output), -EPROTO);
}

static void test_json__values_are_separated(void **state)
{
	struct json *json = &rig.json;

	(void)state;
	json_object(json);
	json_key_array(json, "a");
	json_array(json);
	json_end(json);
	json_number(json, UINT64_MAX);
	json_signed(json, INT64_MIN);
	json_object(json);
	json_end(json);
	json_end(json);
	json_key_object(json, "b");
	json_end(json);
	json_key_string(json, "c", "d");
	json_key_number(json, "e", 0);
	json_key_literal(json, "f", "null");
	json_end(json);
	assert_text("{\"a\":[[],18446744073709551615,-9223372036854775808,{}],\"b\":{},"
		    "\"c\":\"d\",\"e\":0,\"f\":null}");
}

static void test_json__decimals_are_exact(void **state)
{
	static const struct {
		uint64_t number;
		unsigned int digits;
	} decimals[] = {{0, 6},		{1, 6},		  {1000000, 6},	   {1500000, 6}, {10, 1},
			{123456789, 6}, {UINT64_MAX, 19}, {UINT64_MAX, 0}, {20, 0}};

	(void)state;
	json_array(&rig.json);
	for (size_t i = 0; i < sizeof(decimals) / sizeof(decimals[0]); i++)
		json_decimal(&rig.json, decimals[i].number, decimals[i].digits);
	json_end(&rig.json);
	assert_text("[0,0.000001,1,1.5,1,123.456789,1.8446744073709551615,18446744073709551615,"
		    "20]");
}

static void test_json__strings_are_escaped(void **state)
{
	static const char *const strings[] = {
		"",
		"a\"b\\c/",
		"</script><!--&amp;",
		"\001\n\x7f",
		"\xff\xc3",
		"\xe2\x82\xac",
		"\xe2\x80\xa8",
		"\xed\xa0\x80",
		"\xf0\x9f\x92\xa9",
		"\xc0\x80",
	};

	(void)state;
	json_array(&rig.json);
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		json_string(&rig.json, strings[i]);
	json_end(&rig.json);
	assert_text("[\"\",\"a\\\"b\\\\c/\",\"\\u003c/script\\u003e\\u003c!--\\u0026amp;\",\"???\","
		    "\"??\",\"\xe2\x82\xac\",\"?\",\"?\",\"\xf0\x9f\x92\xa9\",\"??\"]");
}

static void test_json__a_long_string_is_cut(void **state)
{
	char name[8192];

	(void)state;
	memset(name, '"', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	json_string(&rig.json, name);
	json_finish(&rig.json);
	assert_int_equal(output_finish(&rig.output), 0);
	assert_int_equal(lseek(rig.output.fd, 0, SEEK_END), 2 * (4096 - 1 - 3) + 3 + 3);
}

static void test_json__clean_strings_are_only_escaped(void **state)
{
	char name[8192];

	(void)state;
	json_array(&rig.json);
	json_clean_string(&rig.json, "a\"b\\c");
	json_clean_string(&rig.json, "</script>\xe2\x82\xac");
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	json_clean_string(&rig.json, name);
	json_end(&rig.json);
	json_finish(&rig.json);
	assert_int_equal(output_finish(&rig.output), 0);
	assert_int_equal(pread(rig.output.fd, rig.text, sizeof(rig.text) - 1, 0),
			 sizeof(rig.text) - 1);
	rig.text[sizeof(rig.text) - 1] = '\0';
	assert_non_null(
		strstr(rig.text, "[\"a\\\"b\\\\c\",\"\\u003c/script\\u003e\xe2\x82\xac\",\"aaa"));
	assert_int_equal(lseek(rig.output.fd, 0, SEEK_END),
			 strlen("[\"a\\\"b\\\\c\",\"\\u003c/script\\u003e\xe2\x82\xac\",") +
				 strlen(name) + strlen("\"\"]\n"));
}

static void test_json__a_value_needs_its_key(void **state)
{
	(void)state;
	json_object(&rig.json);
	json_number(&rig.json, 1);
	assert_refused();
}

static void test_json__a_key_belongs_into_an_object(void **state)
{
	(void)state;
	json_array(&rig.json);
	json_key(&rig.json, "a");
	assert_refused();
}

static void test_json__a_key_needs_its_value(void **state)
{
	(void)state;
	json_object(&rig.json);
	json_key(&rig.json, "a");
	json_end(&rig.json);
	assert_refused();
}

static void test_json__there_is_one_value(void **state)
{
	(void)state;
	json_number(&rig.json, 1);
	json_number(&rig.json, 1);
	assert_refused();
}

static void test_json__no_value_is_not_enough(void **state)
{
	(void)state;
	json_finish(&rig.json);
	assert_refused();
}

static void test_json__what_is_open_is_not_finished(void **state)
{
	(void)state;
	json_array(&rig.json);
	json_finish(&rig.json);
	assert_refused();
}

static void test_json__no_end_too_many(void **state)
{
	(void)state;
	json_array(&rig.json);
	json_end(&rig.json);
	json_end(&rig.json);
	assert_refused();
}

static void test_json__depth_is_limited(void **state)
{
	(void)state;
	for (int i = 0; i < JSON_DEPTH_MAX; i++)
		json_array(&rig.json);
	assert_int_equal(rig.output.r, 0);
	json_array(&rig.json);
	assert_refused();
}

/* Tests of formats depend on this checker. */
static void test_json__check(void **state)
{
	static const char *const good[] = {"0", "-1.5", "[]", "{\"a\":[1,null,true,false]}\n",
					   "\"\\u003c\\n\xc3\xa4\""};
	static const char *const bad[] = {"",	      "01",
					  "1.",	      "[1,]",
					  "{\"a\"}",  "{1:2}",
					  "nul",      "\"\n\"",
					  "\"\xff\"", "\"\xc0\x80\"",
					  "\"a",      "[1]]",
					  "\"\\x\"",  "\"\xed\xa0\x80\"",
					  "-"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_null(json_check(good[i], strlen(good[i])));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_non_null(json_check(bad[i], strlen(bad[i])));
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_json__##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(values_are_separated),
		TEST(decimals_are_exact),
		TEST(strings_are_escaped),
		TEST(a_long_string_is_cut),
		TEST(clean_strings_are_only_escaped),
		TEST(a_value_needs_its_key),
		TEST(a_key_belongs_into_an_object),
		TEST(a_key_needs_its_value),
		TEST(there_is_one_value),
		TEST(no_value_is_not_enough),
		TEST(what_is_open_is_not_finished),
		TEST(no_end_too_many),
		TEST(depth_is_limited),
		TEST(check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

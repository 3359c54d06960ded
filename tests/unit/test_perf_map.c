/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of /tmp/perf-PID.map, as programs write them and as an attacker might. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "worker/made/perf_map.h"

static void test_perf_map__lines(void **state)
{
	static const struct {
		const char *line, *name;
		uint64_t start, size;
	} rows[] = {
		{"7f8119fc5b80 128 JS:^leaf /w.js:1:14", "JS:^leaf /w.js:1:14", 0x7f8119fc5b80,
		 0x128},
		{"0x00007fc928ec7620 0x0000000000000238 int W.leaf(int)", "int W.leaf(int)",
		 0x7fc928ec7620, 0x238},
		{"1 1  x", " x", 1, 1},
		{"FFFF a \x01\xff", "\x01\xff", 0xffff, 10},
	};
	struct perf_map_line line;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(perf_map_parse(rows[i].line, strlen(rows[i].line), &line), 0);
		assert_int_equal(line.start, rows[i].start);
		assert_int_equal(line.size, rows[i].size);
		assert_int_equal(line.name_bytes, strlen(rows[i].name));
		assert_memory_equal(line.name, rows[i].name, line.name_bytes);
	}
}

static void test_perf_map__no_lines(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"1",
		"1 1",
		"1 1 ",
		"1  x",
		"g 1 x",
		"1 0 x",
		"-1 1 x",
		"0x 1 x",
		"12345678901234567 1 x",
		"ffffffffffffffff 2 x",
		"1\t1\tx",
	};
	struct perf_map_line line;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(perf_map_parse(texts[i], strlen(texts[i]), &line), -EINVAL);
	assert_int_equal(perf_map_parse("1 1 \0x", 6, &line), -EINVAL);
	assert_int_equal(perf_map_parse("1 1 a\0x", 7, &line), 0);
	assert_int_equal(line.name_bytes, 1);
}

static void test_perf_map__long_names(void **state)
{
	char text[PERF_MAP_LINE_MAX];
	struct perf_map_line line;

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, "1 1 ", 4);
	assert_int_equal(perf_map_parse(text, sizeof(text), &line), 0);
	assert_int_equal(line.name_bytes, PERF_MAP_NAME_MAX);
}

static void check_strip(const char *from, const char *to)
{
	char name[64];
	size_t bytes = strlen(from);

	memcpy(name, from, bytes);
	bytes = perf_map_strip(name, bytes);
	assert_int_equal(bytes, strlen(to));
	assert_memory_equal(name, to, bytes);
}

static void test_perf_map__marks_of_compilers(void **state)
{
	(void)state;
	check_strip("JS:*leaf /w.js:1:14", "JS:leaf /w.js:1:14");
	check_strip("JS:~leaf", "JS:leaf");
	check_strip("JS:+'leaf", "JS:leaf");
	check_strip("JS:o*top", "JS:top");
	check_strip("JS:o+'top", "JS:top");
	check_strip("JS:o", "JS:o");
	check_strip("JS:open", "JS:open");
	check_strip("JS:*'", "JS:*'");
	check_strip("JS:leaf", "JS:leaf");
	check_strip("int32 [W] W::Middle(int32)[Optimized]", "int32 [W] W::Middle(int32)");
	check_strip("void C::f(int[])", "void C::f(int[])");
	check_strip("f()[]", "f()[]");
	check_strip(")[a]", ")");
	check_strip("[a]", "[a]");
	check_strip("JS:*", "JS:*");
	check_strip("Builtin:*x", "Builtin:*x");
	check_strip("[JIT] Object#leaf", "Object#leaf");
	check_strip("[JIT] ", "[JIT] ");
	check_strip("JIT$C::leaf", "C::leaf");
	check_strip("JIT$$exception_handler", "JIT$$exception_handler");
	check_strip("JIT$", "JIT$");
	check_strip("TRACE-12$leaf$345", "leaf");
	check_strip("TRACE-1$/srv/a.php$3", "/srv/a.php");
	check_strip("TRACE-1$leaf", "leaf");
	check_strip("TRACE-1$$12", "$12");
	check_strip("TRACE-$leaf$2", "TRACE-$leaf$2");
	check_strip("TRACE-1$", "TRACE-1$");
	check_strip("TRACE-1", "TRACE-1");
	check_strip("", "");
}

static void test_perf_map__sources(void **state)
{
	static const char *const none[] = {
		"JS:leaf",
		"JS:leaf /w.js:1",
		"JS:leaf :1:1",
		"JS:f /a:1:",
		"JS:f /a:123456789:1",
		"",
		"JS:",
		"py::f",
		"py:::/a.py",
		"py::f:",
		"f /a.js:1:1",
	};
	struct perf_map_place place;

	(void)state;
	assert_int_equal(perf_map_split("JS:leaf /srv/a b.js:12:7", &place), 0);
	assert_int_equal(place.name_bytes, strlen("JS:leaf"));
	assert_int_equal(place.file_at, strlen("JS:leaf "));
	assert_int_equal(place.file_bytes, strlen("/srv/a b.js"));
	assert_int_equal(place.line, 12);
	assert_int_equal(perf_map_split("JS:go node:events:4:5", &place), 0);
	assert_int_equal(place.file_bytes, strlen("node:events"));
	assert_false(perf_map_is_anonymous(&place));
	assert_int_equal(perf_map_split("JS: /w.js:1:14", &place), 0);
	assert_int_equal(place.file_bytes, strlen("/w.js"));
	assert_true(perf_map_is_anonymous(&place));
	assert_int_equal(perf_map_split("py::A.f:/srv/a:b.py", &place), 0);
	assert_int_equal(place.name_bytes, strlen("py::A.f"));
	assert_int_equal(place.file_bytes, strlen("/srv/a:b.py"));
	assert_int_equal(place.line, 0);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(perf_map_split(none[i], &place), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perf_map__lines),
		cmocka_unit_test(test_perf_map__no_lines),
		cmocka_unit_test(test_perf_map__long_names),
		cmocka_unit_test(test_perf_map__marks_of_compilers),
		cmocka_unit_test(test_perf_map__sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

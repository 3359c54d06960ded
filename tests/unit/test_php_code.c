/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of PHP, as events tell of them: names, files and lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/build_php.h"
#include "worker/runtime/php.h"
#include "worker/runtime/php_layout.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

#define LONG_CLASS "App\\Http\\Controllers\\Administration\\Reports\\Quarterly\\SummaryController"

#define V(interface, major, minor) interface,
static const uint32_t interfaces[] = {
#include "worker/runtime/php_versions.def"
};
#undef V
#define VERSIONS (sizeof(interfaces) / sizeof(*interfaces))

static struct runtime_setup setup_of;
static struct told told;

static void set_version(size_t version)
{
	setup_of = (struct runtime_setup){.handler = &php_handler};
	assert_int_equal(
		php_layout_find(interfaces[version], &setup_of.layout.php, &setup_of.version), 0);
}

static int tell_event(const struct event_code *event)
{
	memset(&told, 0xa5, sizeof(told));
	return told_read(&setup_of, NULL, event, &told);
}

static int tell(const struct build_php *code)
{
	const struct event_code event = build_php(&setup_of.layout.php, code);

	return tell_event(&event);
}

static void expect(const struct build_php *code, const char *name, const char *file,
		   uint32_t first_line)
{
	for (size_t i = 0; i < VERSIONS; i++) {
		set_version(i);
		assert_int_equal(tell(code), 0);
		assert_string_equal(told.code.name, name);
		assert_string_equal(told.code.file, file);
		assert_int_equal(told.code.first_line, first_line);
		assert_false(told.is_start);
	}
}

static void test_php_code__functions(void **state)
{
	(void)state;
	expect(&(struct build_php){.type = BUILD_PHP_USER,
				   .name = "Work\\burn",
				   .file = "/srv/app.php",
				   .first_line = 12},
	       "Work\\burn", "/srv/app.php", 12);
	expect(&(struct build_php){.type = BUILD_PHP_USER,
				   .class = "App\\Größe",
				   .name = "area",
				   .file = "/srv/app.php",
				   .first_line = 7},
	       "App\\Größe::area", "/srv/app.php", 7);
	expect(&(struct build_php){.type = BUILD_PHP_USER,
				   .file = "/srv/index.php",
				   .first_line = 1},
	       "{main}", "/srv/index.php", 1);
	expect(&(struct build_php){.type = BUILD_PHP_EVAL,
				   .file = "/srv/a.php(3) : eval()'d code",
				   .first_line = 1},
	       "{main}", "/srv/a.php(3) : eval()'d code", 1);
	/* code of a file that a method includes has the method's class */
	expect(&(struct build_php){.type = BUILD_PHP_USER, .class = "App", .file = "/srv/view.php"},
	       "{main}", "/srv/view.php", 0);
}

static void test_php_code__functions_in_c(void **state)
{
	(void)state;
	expect(&(struct build_php){.type = BUILD_PHP_INTERNAL, .name = "array_map"}, "array_map",
	       "", 0);
	expect(&(struct build_php){.type = BUILD_PHP_INTERNAL, .class = "Fiber", .name = "resume"},
	       "Fiber::resume", "", 0);
}

/* zend_fibers.c has one function in C without a name. */
static void test_php_code__start_of_a_fiber(void **state)
{
	const struct build_php code = {.type = BUILD_PHP_INTERNAL};

	(void)state;
	for (size_t i = 0; i < VERSIONS; i++) {
		set_version(i);
		assert_int_equal(tell(&code), 0);
		assert_true(told.is_start);
		assert_string_equal(told.code.name, "{fiber}");
	}
}

/* BPF tells 64 bytes of a class, and parts of other texts. */
static void test_php_code__long_names(void **state)
{
	char name[400], file[700];
	struct build_php code = {.type = BUILD_PHP_USER, .class = LONG_CLASS, .name = "show"};

	(void)state;
	code.file = "/srv/a.php";
	expect(&code,
	       "App\\Http\\Controllers\\Administration\\Reports\\Quarterly\\SummaryCon...::show",
	       "/srv/a.php", 0);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memset(file, 'f', sizeof(file) - 1);
	file[sizeof(file) - 1] = '\0';
	code.name = name;
	code.file = file;
	for (size_t i = 0; i < VERSIONS; i++) {
		set_version(i);
		assert_int_equal(tell(&code), 0);
		assert_true(strlen(told.code.name) < sizeof(told.code.name));
		assert_true(strlen(told.code.file) > 64);
		assert_int_equal(strspn(told.code.file, "f"), strlen(told.code.file));
	}
}

static uint32_t line_of(uint32_t instruction)
{
	return told.handler->find_line(&told.lines, instruction * 32);
}

static void test_php_code__lines(void **state)
{
	static const uint32_t lines[] = {10, 11, 11, 9, 1u << 31};
	struct build_php code = {.type = BUILD_PHP_USER,
				 .name = "f",
				 .file = "a",
				 .first_line = 8,
				 .lines = lines,
				 .count = 5,
				 .there = 5};

	(void)state;
	for (size_t i = 0; i < VERSIONS; i++) {
		set_version(i);
		assert_int_equal(tell(&code), 0);
		assert_int_equal(line_of(0), 10);
		assert_int_equal(line_of(2), 11);
		assert_int_equal(line_of(3), 9);
		assert_int_equal(line_of(4), 0);
		assert_int_equal(line_of(5), 0);
		assert_int_equal(told.handler->find_line(&told.lines, UINT32_MAX), 0);
		assert_false(told.lines.is_cut);
	}
	code.there = 2;
	assert_int_equal(tell(&code), 0);
	assert_int_equal(line_of(1), 11);
	assert_int_equal(line_of(2), 0);
	assert_true(told.lines.is_cut);
}

/* A frame behind the instructions of the event has its line itself. */
static void test_php_code__lines_of_frames(void **state)
{
	const uint32_t place = 4711u << RUNTIME_PLACE_SHIFT | RUNTIME_PLACE_LINE;
	struct build_php code = {.type = BUILD_PHP_USER, .name = "f", .file = "a"};

	(void)state;
	for (size_t i = 0; i < VERSIONS; i++) {
		set_version(i);
		assert_int_equal(tell(&code), 0);
		assert_int_equal(told.handler->find_line(&told.lines, place), 4711);
		assert_int_equal(told.handler->find_line(&told.lines, RUNTIME_OFFSET_NONE), 0);
	}
	code.type = BUILD_PHP_INTERNAL;
	assert_int_equal(tell(&code), 0);
	assert_int_equal(told.handler->find_line(&told.lines, place), 0);
}

static void test_php_code__what_cannot_be(void **state)
{
	struct build_php code = {.type = 3, .name = "f", .file = "a"};
	struct event_code event;

	(void)state;
	set_version(2);
	assert_int_equal(tell(&code), -EPROTO);
	code.type = BUILD_PHP_USER;
	code.first_line = 1u << 31;
	assert_int_equal(tell(&code), -EPROTO);
	code.first_line = 1;
	event = build_php(&setup_of.layout.php, &code);
	event.bytes[1] = 0; /* the name is out of memory */
	assert_int_equal(tell_event(&event), -EFAULT);
	event = build_php(&setup_of.layout.php, &code);
	event.bytes[2] = 0;
	assert_int_equal(tell_event(&event), -EFAULT);
	event = build_php(&setup_of.layout.php, &code);
	event.bytes[0] = 0;
	assert_int_equal(tell_event(&event), -EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_php_code__functions),
		cmocka_unit_test(test_php_code__functions_in_c),
		cmocka_unit_test(test_php_code__start_of_a_fiber),
		cmocka_unit_test(test_php_code__long_names),
		cmocka_unit_test(test_php_code__lines),
		cmocka_unit_test(test_php_code__lines_of_frames),
		cmocka_unit_test(test_php_code__what_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

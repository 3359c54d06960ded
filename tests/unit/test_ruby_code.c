/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of Ruby, as events tell of them: names, files and lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/build_ruby.h"
#include "worker/runtime/ruby.h"
#include "worker/runtime/ruby_layout.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

static const uint32_t versions[] = {
#define V(major, minor) (major) << 24 | (minor) << 16,
#include "worker/runtime/ruby_versions.def"
#undef V
};
#define VERSIONS (sizeof(versions) / sizeof(*versions))

static struct runtime_setup setup_of;
static struct told told;

static void set_version(size_t version)
{
	setup_of = (struct runtime_setup){.handler = &ruby_handler};
	setup_of.config.flags = RUNTIME_CONTROL;
	assert_int_equal(ruby_layout_find(versions[version], &setup_of.layout.ruby), 0);
}

static int tell_event(const struct event_code *event)
{
	memset(&told, 0xa5, sizeof(told));
	return told_read(&setup_of, NULL, event, &told);
}

static int tell(const struct build_ruby *code)
{
	const struct event_code event = build_ruby(&setup_of.layout.ruby, code);

	return tell_event(&event);
}

static void expect(const struct build_ruby *code, const char *name, const char *file,
		   uint32_t first_line)
{
	for (size_t i = 0; i < VERSIONS; i++) {
		set_version(i);
		assert_int_equal(tell(code), 0);
		assert_string_equal(told.code.name, name);
		assert_string_equal(told.code.file, file);
		assert_int_equal(told.code.first_line, first_line);
	}
}

static void expect_name(const char *label, const char *class, uint32_t named, const char *name)
{
	expect(&(struct build_ruby){.label = label, .path = "a.rb", .class = class, .named = named},
	       name, "a.rb", 0);
}

static void test_ruby_code__functions(void **state)
{
	(void)state;
	expect(&(struct build_ruby){.label = "block in größe",
				    .path = "/srv/a.rb",
				    .first_line = 7},
	       "block in größe", "/srv/a.rb", 7);
	expect(&(struct build_ruby){.label = "<main>", .path = "-e", .first_line = 1}, "<main>",
	       "-e", 1);
}

static void test_ruby_code__classes(void **state)
{
	(void)state;
	expect_name("area", "Shape", CONTROL_OF_OBJECTS, "Shape#area");
	expect_name("sum", "A::Shape", CONTROL_OF_ITSELF, "A::Shape.sum");
	expect_name("area", "Shape", CONTROL_NO_CLASS, "area");
	expect_name("area", "Shape", 9, "area");
	expect_name("block (2 levels) in area", "Shape", CONTROL_OF_OBJECTS,
		    "block (2 levels) in Shape#area");
	expect_name("rescue in block in area", "Shape", CONTROL_OF_OBJECTS,
		    "rescue in block in Shape#area");
	expect_name("<=>", "Shape", CONTROL_OF_OBJECTS, "Shape#<=>");
	expect_name("block in", "Shape", CONTROL_OF_OBJECTS, "Shape#block in");
	/* code of a class body, or of a file, is of no method */
	expect_name("block in <class:Shape>", "Shape", CONTROL_OF_OBJECTS,
		    "block in <class:Shape>");
	expect_name("<main>", "Object", CONTROL_OF_OBJECTS, "<main>");
}

static void test_ruby_code__functions_in_c(void **state)
{
	(void)state;
	expect(&(struct build_ruby){.is_in_c = true, .label = "each"}, "each", "", 0);
	expect(&(struct build_ruby){.is_in_c = true,
				    .label = "each",
				    .class = "Array",
				    .named = CONTROL_OF_OBJECTS},
	       "Array#each", "", 0);
}

/* BPF tells 64 bytes of a class, and parts of other texts. */
static void test_ruby_code__long_names(void **state)
{
	char class[100], label[400], file[700];

	(void)state;
	memset(class, 'C', sizeof(class) - 1);
	class[sizeof(class) - 1] = '\0';
	memset(label, 'l', sizeof(label) - 1);
	label[sizeof(label) - 1] = '\0';
	memset(file, 'f', sizeof(file) - 1);
	file[sizeof(file) - 1] = '\0';
	set_version(3);
	assert_int_equal(
		tell(&(struct build_ruby){
			.label = "m", .path = file, .class = class, .named = CONTROL_OF_OBJECTS}),
		0);
	assert_int_equal(strspn(told.code.name, "C"), RUNTIME_TEXT_BYTES);
	assert_string_equal(told.code.name + RUNTIME_TEXT_BYTES, "...#m");
	assert_int_equal(strspn(told.code.file, "f"), strlen(told.code.file));
	assert_int_equal(
		tell(&(struct build_ruby){
			.label = label, .path = "a", .class = class, .named = CONTROL_OF_OBJECTS}),
		0);
	assert_true(strlen(told.code.name) < sizeof(told.code.name));
}

/* The pc is behind the instruction: that of place 0 has place 1 or more. */
static uint32_t line_of(uint32_t place)
{
	return told.handler->find_line(&told.lines, (place + 1) * 8);
}

static void test_ruby_code__lines(void **state)
{
	static const uint32_t lines[][2] = {{0, 10},  {3, 11},	{53, 12},  {54, 13}, {60, 12},
					    {118, 9}, {300, 8}, {566, 20}, {700, 21}};
	const struct build_ruby code = {
		.label = "f", .path = "a", .lines = lines, .count = 9, .places = 750};

	(void)state;
	for (size_t i = 0; i < VERSIONS; i++) {
		set_version(i);
		assert_int_equal(tell(&code), 0);
		assert_false(told.lines.is_cut);
		for (uint32_t place = 0, entry = 0; place < 750; place++) {
			if (entry + 1 < 9 && lines[entry + 1][0] == place)
				entry++;
			assert_int_equal(line_of(place), lines[entry][1]);
		}
		assert_int_equal(line_of(750), 0);
		/* the function has not begun */
		assert_int_equal(told.handler->find_line(&told.lines, 0), 10);
		assert_int_equal(told.handler->find_line(&told.lines, RUNTIME_OFFSET_NONE), 0);
		assert_int_equal(told.handler->find_line(&told.lines, UINT32_MAX), 0);
	}
}

static void test_ruby_code__lines_in_part(void **state)
{
	static const uint32_t lines[][2] = {{0, 10}, {3, 11}, {100, 12}, {200, 1u << 31}};
	struct build_ruby code = {
		.label = "f", .path = "a", .lines = lines, .count = 1, .places = 50};
	struct event_code event;

	(void)state;
	set_version(2);
	/* one entry needs no table */
	event = build_ruby(&setup_of.layout.ruby, &code);
	event.table_bytes = 0;
	assert_int_equal(tell_event(&event), 0);
	assert_int_equal(line_of(49), 10);
	code.count = 4;
	code.places = 300;
	event = build_ruby(&setup_of.layout.ruby, &code);
	event.table_bytes = 48; /* of the first places alone */
	assert_int_equal(tell_event(&event), 0);
	assert_true(told.lines.is_cut);
	assert_int_equal(line_of(53), 11);
	assert_int_equal(line_of(54), 0);
	event = build_ruby(&setup_of.layout.ruby, &code);
	assert_int_equal(tell_event(&event), 0);
	assert_int_equal(line_of(150), 12);
	assert_int_equal(line_of(250), 0);
	event.bytes[3] = 12; /* one line */
	assert_int_equal(tell_event(&event), 0);
	assert_int_equal(line_of(2), 10);
	assert_int_equal(line_of(3), 0);
	event.table_at = CODE_BYTES; /* beyond the event */
	assert_int_equal(tell_event(&event), 0);
	assert_int_equal(line_of(0), 0);
}

static void test_ruby_code__what_cannot_be(void **state)
{
	struct build_ruby code = {.label = "f", .path = "a", .first_line = 1};
	struct event_code event;

	(void)state;
	set_version(2);
	event = build_ruby(&setup_of.layout.ruby, &code);
	event.data[0] = 99; /* a type of code that there is not */
	assert_int_equal(tell_event(&event), -EPROTO);
	event = build_ruby(&setup_of.layout.ruby, &code);
	event.bytes[1] = 0; /* the name is out of memory */
	assert_int_equal(tell_event(&event), -EFAULT);
	event = build_ruby(&setup_of.layout.ruby, &code);
	event.bytes[2] = 0;
	assert_int_equal(tell_event(&event), -EFAULT);
	event = build_ruby(&setup_of.layout.ruby, &code);
	event.bytes[0] = 0;
	assert_int_equal(tell_event(&event), -EFAULT);
	code.first_line = 1u << 31;
	assert_int_equal(tell(&code), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ruby_code__functions),
		cmocka_unit_test(test_ruby_code__classes),
		cmocka_unit_test(test_ruby_code__functions_in_c),
		cmocka_unit_test(test_ruby_code__long_names),
		cmocka_unit_test(test_ruby_code__lines),
		cmocka_unit_test(test_ruby_code__lines_in_part),
		cmocka_unit_test(test_ruby_code__what_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Code of HotSpot, as events tell of it: names, files, lines, and inlined functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "object/elf/image.h"
#include "tests/unit/build_hotspot.h"
#include "worker/runtime/functions.h"
#include "worker/runtime/hotspot_names.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/told.h"

#define FAMILY 7u

static struct runtime_setup setup;
static struct told told;

static void set_version(enum build_hotspot_version version)
{
	struct image *image = build_hotspot_image(&(struct build_hotspot){.version = version});

	assert_int_equal(runtime_configure(RUNTIME_HOTSPOT, image, &setup), 0);
	image_close(image);
}

static int tell_event(const struct event_code *event)
{
	memset(&told, 0xa5, sizeof(told));
	return told_read(&setup, NULL, event, &told);
}

static int tell(const struct build_hotspot_function *function)
{
	const struct event_code event = build_hotspot_function(&setup.layout.hotspot, function);

	return tell_event(&event);
}

static uint32_t line_of(uint32_t instruction)
{
	return told.handler->find_line(&told.lines, instruction);
}

/* ---- names ---- */

static void expect_name(const char *class, const char *name, const char *signature,
			const char *expected)
{
	char made[TOLD_NAME_BYTES];

	hotspot_name(class, name, signature, made);
	assert_string_equal(made, expected);
}

static void test_hotspot_code__names(void **state)
{
	(void)state;
	expect_name("java/util/Map", "put", "(Ljava/lang/Object;Ljava/lang/Object;)V",
		    "java.util.Map.put(Object,Object)");
	expect_name("Run", "main", "([Ljava/lang/String;)V", "Run.main(String[])");
	expect_name("a/B$C", "<init>", "()V", "a.B$C.<init>()");
	expect_name("B", "f", "(ZBCSIJFD[[J)I",
		    "B.f(boolean,byte,char,short,int,long,float,double,long[][])");
	expect_name("Run$$Lambda$14+0x00000008000c3000", "apply", "(I)I",
		    "Run$$Lambda$14.apply(int)");
	expect_name("Run$$Lambda+0x00000008000c3000", "apply", "()V", "Run$$Lambda.apply()");
	expect_name("a/Run$$Lambda$1/314", "apply", "()V", "a.Run$$Lambda$1.apply()");
	expect_name("", "f", "", "f");
}

static void test_hotspot_code__damaged_signatures(void **state)
{
	char class[TOLD_NAME_BYTES], made[TOLD_NAME_BYTES];

	(void)state;
	expect_name("B", "f", "(ILjava/lang/Obj", "B.f(int,...)");
	expect_name("B", "f", "(I", "B.f(int,...)");
	expect_name("B", "f", "(?)V", "B.f(...)");
	expect_name("B", "f", "([[", "B.f(...)");
	expect_name("B", "f", "x", "B.f");
	memset(class, 'c', sizeof(class));
	class[sizeof(class) - 1] = '\0';
	hotspot_name(class, "name", "()V", made);
	assert_int_equal(strlen(made), sizeof(made) - 1);
}

/* ---- functions ---- */

static const uint8_t lines_17[] = {0x00 << 3 | 5, 4 << 3 | 1, 0xff, 40, 2 * 30, 0};
/* since JDK 20 each byte of a number is one more */
static const uint8_t lines_21[] = {0x00 << 3 | 5, 4 << 3 | 1, 0xff, 41, 2 * 30 + 1, 0};

static struct build_hotspot_function some_function(void)
{
	return (struct build_hotspot_function){
		.class = "a/Run",
		.name = "work",
		.signature = "(I)V",
		.file = "Run.java",
		.code_size = 60,
		.lines = lines_17,
		.lines_size = sizeof(lines_17),
	};
}

static void test_hotspot_code__functions(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < BUILD_HOTSPOT_VERSIONS; i++) {
		struct build_hotspot_function function = some_function();

		if (i >= BUILD_HOTSPOT_21)
			function.lines = lines_21;
		set_version(i);
		assert_int_equal(tell(&function), 0);
		assert_string_equal(told.code.name, "a.Run.work(int)");
		assert_string_equal(told.code.file, "Run.java");
		assert_int_equal(told.code.first_line, 5);
		assert_int_equal(line_of(0), 5);
		assert_int_equal(line_of(3), 5);
		assert_int_equal(line_of(4), 6);
		assert_int_equal(line_of(23), 6);
		assert_int_equal(line_of(24), 36);
		assert_int_equal(line_of(59), 36);
		assert_int_equal(line_of(RUNTIME_OFFSET_NONE), 0);
	}
}

static void test_hotspot_code__without_some(void **state)
{
	struct build_hotspot_function function = some_function();

	(void)state;
	set_version(BUILD_HOTSPOT_17);
	function.lines = NULL;
	function.file = NULL;
	assert_int_equal(tell(&function), 0);
	assert_string_equal(told.code.file, "");
	assert_int_equal(told.code.first_line, 0);
	assert_int_equal(line_of(4), 0);
	function.class = NULL;
	assert_int_equal(tell(&function), -EFAULT);
	function = some_function();
	function.name = NULL;
	assert_int_equal(tell(&function), -EFAULT);
	function.name = "";
	assert_int_equal(tell(&function), -EFAULT);
}

/* A table without an end, numbers that are cut, and a byte that no number has. */
static void test_hotspot_code__damaged_lines(void **state)
{
	static const uint8_t tables[][4] = {
		{0xff, 0xff, 0xff, 0xff}, {8, 8, 8, 8}, {0xff, 1, 1, 0xff}, {0xff, 0, 1, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct build_hotspot_function function = some_function();

		set_version(BUILD_HOTSPOT_21);
		function.lines = tables[i];
		function.lines_size = sizeof(tables[i]);
		assert_int_equal(tell(&function), 0);
		assert_true(line_of(9) <= UINT16_MAX);
	}
}

/* ---- other code ---- */

static void test_hotspot_code__names_of_code(void **state)
{
	struct event_code event = {.event = {.kind = EVENT_CODE}, .code = 0x7f0000000040};

	(void)state;
	set_version(BUILD_HOTSPOT_17);
	event.name = 0x7f1000000003;
	memcpy(event.text, "StubRoutines (1)", sizeof("StubRoutines (1)"));
	assert_int_equal(tell_event(&event), 0);
	assert_string_equal(told.code.name, "StubRoutines (1)");
	assert_int_equal(line_of(0), 0);
	event.name = 0;
	assert_int_equal(tell_event(&event), -EFAULT);
}

static struct event_code inlined_event(const struct told_frame *frames, size_t count)
{
	struct event_code event = {.event = {.kind = EVENT_CODE}, .code = 0x7f0000004000};
	const size_t bytes = count * sizeof(*frames);

	event.address[0] = CODE_INLINED_AT;
	event.bytes[0] = bytes < CODE_PART_1 ? bytes : CODE_PART_1;
	event.address[1] = CODE_INLINED_AT + CODE_PART_1;
	event.bytes[1] = bytes - event.bytes[0];
	memcpy(event.data, frames, bytes);
	return event;
}

static void expect_inlined(struct functions *functions, uint64_t number, size_t index,
			   const char *name, uint32_t line)
{
	struct function function;
	uint64_t place;

	assert_true(functions_inlined(functions, FUNCTION_PLACE(number, 0), index, &place));
	assert_int_equal(functions_line(functions, place), line);
	assert_true(functions_get(functions, FUNCTION_OF(place), &function));
	assert_string_equal(function.name, name);
}

static void test_hotspot_code__inlined(void **state)
{
	const struct build_hotspot_function function = some_function();
	struct told_frame frames[20] = {{0x1000, 1, 4}, {0x1000, 1, 0}, {0x2000, 2, 0}};
	const struct function_key place = {FAMILY, 0x7f0000004000, 3}, known = {FAMILY, 0x1000, 1};
	struct functions *functions = functions_new();
	struct event_code event;
	uint64_t number, unknown;

	(void)state;
	set_version(BUILD_HOTSPOT_17);
	assert_int_equal(tell(&function), 0);
	functions_tell(functions, &known, &told, 1);
	number = FUNCTION_OF(functions_place(functions, &place, 0, 1));
	assert_false(functions_inlined(functions, FUNCTION_PLACE(number, 0), 0, &unknown));
	event = inlined_event(frames, 3);
	assert_int_equal(tell_event(&event), 0);
	functions_tell(functions, &place, &told, 1);
	expect_inlined(functions, number, 0, "a.Run.work(int)", 6);
	expect_inlined(functions, number, 1, "a.Run.work(int)", 5);
	assert_true(functions_inlined(functions, FUNCTION_PLACE(number, 0), 2, &unknown));
	assert_int_equal(functions_line(functions, unknown), 0);
	assert_false(functions_inlined(functions, FUNCTION_PLACE(number, 0), 3, &unknown));
	assert_false(functions_inlined(functions, unknown, 0, &unknown));
	/* a frame of the second part, and one that is cut */
	event = inlined_event(frames, 20);
	assert_int_equal(tell_event(&event), 0);
	assert_int_equal(told.lines.size, sizeof(frames));
	event.bytes[1] -= 1;
	assert_int_equal(tell_event(&event), 0);
	assert_int_equal(told.lines.size, sizeof(frames) - sizeof(frames[0]));
	event.bytes[0] = 15;
	assert_int_equal(tell_event(&event), -EPROTO);
	functions_free(functions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hotspot_code__names),
		cmocka_unit_test(test_hotspot_code__damaged_signatures),
		cmocka_unit_test(test_hotspot_code__functions),
		cmocka_unit_test(test_hotspot_code__without_some),
		cmocka_unit_test(test_hotspot_code__damaged_lines),
		cmocka_unit_test(test_hotspot_code__names_of_code),
		cmocka_unit_test(test_hotspot_code__inlined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
